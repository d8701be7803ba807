"""Wordings of queues and workers (codes `worker.`)."""

from __future__ import annotations

from typing import Final

TEXTS: Final[dict[str, tuple[str, str]]] = {
    "worker.submitted": (
        "{run_id} ({file}) : {state} dans {store}",
        "{run_id} ({file}): {state} in {store}",
    ),
    "worker.begins": (
        "→ travaille pour {store}, {concurrency} exécution(s) à la fois ; SIGTERM rend ce qui est en cours",
        "→ working for {store}, {concurrency} runs at a time; SIGTERM hands back what is under way",
    ),
    "worker.taken": ("{run_id} (tentative {attempt})", "{run_id} (attempt {attempt})"),
    "worker.ended": (
        "{run_id} : terminée ({reason}, {ticks} tick(s))",
        "{run_id}: ended ({reason}, {ticks} ticks)",
    ),
    "worker.waiting": (
        "{run_id} : attend une réponse (agentl approvals list)",
        "{run_id}: waits for an answer (agentl approvals list)",
    ),
    "worker.handed_back": ("{run_id} : rendue, à reprendre", "{run_id}: handed back, to be taken up again"),
    "worker.held": ("{run_id} : pilotée ailleurs ({message})", "{run_id}: driven elsewhere ({message})"),
    "worker.refused": ("{run_id} : refusée ({message})", "{run_id}: refused ({message})"),
    "worker.failed": ("{run_id} : a échoué ({message})", "{run_id}: failed ({message})"),
    "worker.other_program": (
        "un autre programme ({file}) a été soumis sous l'identifiant {run_id} ; choisissez-en un autre",
        "another program ({file}) was submitted under the id {run_id}; choose another id",
    ),
    "worker.other_ticks": (
        "{run_id} a été soumise avec la limite {stored}, pas {asked} ; choisissez un autre identifiant",
        "{run_id} was submitted with the limit {stored}, not {asked}; choose another id",
    ),
    "worker.no_program": (
        "le programme de {run_id} est introuvable ou illisible : {file} ; donnez-le avec --program, puis "
        "soumettez l'exécution à nouveau",
        "the program of {run_id} is missing or cannot be read: {file}; provide it with --program, then "
        "submit the run again",
    ),
    "worker.program_changed": (
        "{file} n'est plus le programme avec lequel {run_id} a été soumise ; remettez l'original, puis "
        "soumettez l'exécution à nouveau",
        "{file} is no longer the program with which {run_id} was submitted; put the original back, then "
        "submit the run again",
    ),
    "worker.never_ends": (
        "prise {attempts} fois de suite sans que le processus y survive",
        "taken up {attempts} times in a row, and no process survived it",
    ),
    "worker.poll": (
        "--poll {given} : il faut un nombre de secondes supérieur à zéro",
        "--poll {given}: it takes a number of seconds above zero",
    ),
    "worker.concurrency": (
        "--concurrency {given} : il faut au moins une exécution à la fois",
        "--concurrency {given}: at least one run at a time is needed",
    ),
}
