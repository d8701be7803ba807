"""A schedule of drivers: who starts, dies, sleeps and wakes, and when. Made from one number; plain data.

Imports nothing of the package. The commands of a schedule are carried out by ``play``; a driver's fates are
points of its own process (``stage``), or a number of microseconds after which it is stopped or killed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random

STORES = ("file", "sqlite", "postgres")
PROMISES = ("none", "idempotent", "reconcilable", "both", "read_only")
KINDS = ("kill", "pause")
PROGRAMS = ("row", "ticks", "asked")

DIES, SLEEPS = "dies", "sleeps"

# Where something may happen to a driver, how often it comes by there at most, and how much it matters.
POINTS: tuple[tuple[str, int, int], ...] = (
    ("append.before", 10, 8),
    ("append.inside", 8, 5),
    ("append.after", 10, 8),
    ("tool.before", 2, 8),
    ("tool.after", 2, 8),
    ("reconciler.before", 2, 5),
    ("reconciler.after", 2, 5),
    ("acquire.before", 1, 1),
    ("acquire.inside", 1, 2),
    ("acquire.after", 1, 2),
    ("meta.before", 2, 1),
    ("release.before", 1, 1),
    ("release.inside", 1, 1),
)
# In a driver that sleeps here nobody else can look at the store: it is inside a transaction of its own.
INSIDE = ("append.inside", "acquire.inside")
REPLIES = ("good", "unsure_done", "unsure_not", "failed")
LONGEST_MICROS = 30_000


@dataclass(frozen=True)
class Fate:
    """What happens to a driver at the ``nth`` time that it comes to a point."""

    how: str
    point: str
    nth: int = 0

    def __str__(self) -> str:
        return f"{self.how} at {self.point}#{self.nth}"


@dataclass(frozen=True)
class Command:
    """One thing that the outside does.

    ``start`` a driver and wait until it ends or sleeps; ``begin`` one that waits for the lease, and go on;
    ``after`` so many microseconds stop or kill a driver that was begun; ``wake``, ``kill`` or ``join``
    one; ``late``: nobody renews for longer than a lease lasts; ``cut``: the power fails too;
    ``settle``: an operator says the truth about what is open.
    """

    do: str
    driver: int = 0
    fates: tuple[Fate, ...] = ()
    micros: int = 0
    how: str = ""
    share: float = 0.0

    def __str__(self) -> str:
        words = [self.do]
        if self.driver:
            words.append(str(self.driver))
        words += [str(fate) for fate in self.fates]
        if self.do == "after":
            words.append(f"{self.micros} µs {self.how}")
        if self.do == "cut":
            words.append(f"{self.share:.2f}")
        return " ".join(words)


@dataclass(frozen=True)
class Schedule:
    """Everything that a run of several drivers needs."""

    seed: int
    store: str
    promise: str
    kind: str
    program: str = "row"
    commands: tuple[Command, ...] = ()
    away: frozenset[int] = frozenset()
    knows_key: bool = False
    knows_token: bool = False
    renews: bool = False
    company: bool = False
    replies: tuple[tuple[int, tuple[str, ...]], ...] = ()

    @property
    def exact(self) -> bool:
        """Whether nothing in it depends on how fast the machine is, or on which thread comes first."""
        timed = any(command.do in ("begin", "after") for command in self.commands)
        return not timed and not self.company

    @property
    def sleeps(self) -> bool:
        """Whether somebody falls asleep, perhaps in the middle of a transaction."""
        return any(
            command.how == SLEEPS or any(fate.how == SLEEPS for fate in command.fates)
            for command in self.commands
        )

    def replies_of(self, driver: int) -> tuple[str, ...]:
        """What the receiver answers to the calls of a driver, one after the other; then only good ones."""
        return dict(self.replies).get(driver, ())

    def replay(self) -> str:
        """The command that plays it again."""
        return (
            f"python3 tools/schedules.py --seed {self.seed} --store {self.store} "
            f"--promise {self.promise} --kind {self.kind}"
        )

    def __str__(self) -> str:
        knows = [word for word, known in (("key", self.knows_key), ("token", self.knows_token)) if known]
        head = (
            f"{self.kind} {self.seed}: {self.store}, {self.promise}, program {self.program}, "
            f"receiver knows {' and '.join(knows) or 'nothing'}, away {sorted(self.away)}"
            f"{', in company' if self.company else ''}"
        )
        told = [f"  {command}" for command in self.commands]
        told += [f"  replies to {driver}: {', '.join(said)}" for driver, said in self.replies]
        return "\n".join([head, *told])


def generate(seed: int, store: str, promise: str, kind: str) -> Schedule:
    """The schedule of a number, for one store, one promise and one kind of trouble."""
    random = Random(f"{kind} {seed}")
    found = Schedule(
        seed,
        store,
        promise,
        kind,
        program=random.choice(PROGRAMS),
        knows_key=promise in ("idempotent", "both") or random.random() < 0.2,
        knows_token=random.random() < 0.2,
        renews=random.random() < 0.2,
    )
    commands, drivers = (_kills if kind == "kill" else _pauses)(random, found)
    away = (
        frozenset(d for d in range(1, drivers + 3) if random.random() < 0.3)
        if store != "file"
        else frozenset()
    )
    commands = _with_time(commands, away, random) if store != "file" else commands
    replies = _replies(random, drivers) if random.random() < 0.25 else ()
    # Each driver has another run at work in a second thread: their entries are committed together.
    company = random.random() < 0.2 and store != "file"
    return replace(found, commands=tuple(commands), away=away, replies=replies, company=company)


def _fate(random: Random, how: str, program: str) -> Fate:
    ((point, often, _),) = random.choices(POINTS, [weight for _, _, weight in POINTS])
    return Fate(how, point, random.randrange(2 * often if program == "ticks" else often))


def _micros(random: Random) -> int:
    return round(LONGEST_MICROS ** random.random())


def _replies(random: Random, drivers: int) -> tuple[tuple[int, tuple[str, ...]], ...]:
    return tuple(
        (driver, tuple(random.choices(REPLIES, (5, 2, 2, 1), k=4))) for driver in range(1, drivers + 2)
    )


def _kills(random: Random, found: Schedule) -> tuple[list[Command], int]:
    """One to three drivers die, alone, beside one that is refused first, or in a race."""
    commands: list[Command] = []
    driver = 0
    for _ in range(random.choices((1, 2, 3), (6, 3, 1))[0]):
        driver += 1
        way = random.choices(("alone", "refused", "race", "timed", "timed race"), (4, 3, 1, 2, 1))[0]
        fate = _fate(random, DIES, found.program)
        if way == "alone":
            commands.append(Command("start", driver, (fate,)))
        elif way == "refused":
            commands.append(Command("start", driver, (replace(fate, how=SLEEPS),)))
            commands += [Command("start", driver + 1), Command("kill", driver)]
            driver += 1
        elif way == "race":
            commands += [Command("begin", driver, (fate,)), Command("begin", driver + 1)]
            commands += [Command("join", driver), Command("join", driver + 1)]
            driver += 1
        else:
            commands.append(Command("begin", driver))
            if way == "timed race":
                commands.append(Command("begin", driver + 1))
            commands.append(Command("after", driver, micros=_micros(random), how=DIES))
            if way == "timed race":
                driver += 1
                commands.append(Command("join", driver))
        if found.store == "file" and way in ("alone", "refused") and random.random() < 0.5:
            commands.append(Command("cut", share=random.choice((0.0, 0.0, 1.0, random.random()))))
        if random.random() < 0.15:
            driver += 1
            dies = (_fate(random, DIES, found.program),) if random.random() < 0.3 else ()
            commands.append(Command("settle", driver, dies))
    return commands, driver


def _pauses(random: Random, found: Schedule) -> tuple[list[Command], int]:
    """One or two drivers fall asleep, somebody else drives or is refused, they wake or never do."""
    commands: list[Command] = []
    asleep: list[int] = []
    driver = 0
    for _ in range(random.choices((1, 2, 3), (6, 3, 1))[0]):
        driver += 1
        fates = [_fate(random, SLEEPS, found.program)]
        if random.random() < 0.35:
            fates.append(_fate(random, random.choice((DIES, SLEEPS)), found.program))
        if random.random() < 0.25:
            commands += [
                Command("begin", driver, tuple(fate for fate in fates[1:] if fate.how == DIES)),
                Command("after", driver, micros=_micros(random), how=SLEEPS),
            ]
        else:
            commands.append(Command("start", driver, tuple(fates)))
        asleep.append(driver)
        if random.random() < 0.3:
            driver += 1
            commands.append(Command("start", driver))  # the lease has not run out: refused
        if found.store != "file" and random.random() < 0.85:
            commands.append(Command("late"))
    for _ in range(random.choices((0, 1, 2), (1, 5, 2))[0]):
        driver += 1
        fates = (
            [_fate(random, random.choice((DIES, SLEEPS)), found.program)] if random.random() < 0.45 else []
        )
        commands.append(Command("start", driver, tuple(fates)))
        if fates and fates[0].how == SLEEPS:
            asleep.append(driver)
    if random.random() < 0.15:
        driver += 1
        commands.append(Command("settle", driver))
    random.shuffle(asleep)
    for sleeper in asleep:
        commands.append(Command("kill" if random.random() < 0.15 else "wake", sleeper))
        if random.random() < 0.3:
            driver += 1
            commands.append(Command("start", driver))
    return commands, driver


def _with_time(commands: list[Command], away: frozenset[int], random: Random) -> list[Command]:
    """Of a driver that died elsewhere only time tells."""
    found: list[Command] = []
    for command in commands:
        found.append(command)
        dies = command.do in ("kill", "join", "after") or any(fate.how == DIES for fate in command.fates)
        if dies and command.driver in away and random.random() < 0.8:
            found.append(Command("late"))
    return found
