"""The gate: proposals come in, the kernel judges them, and only it calls the host.

Everything that decides is in ``protocol.py``; here is the order of the steps and their input and
output: isolate, judge, ask, mint (`KRN-3`), then execute (`KRN-12`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Final

from agentl.errors import AgentLError, PermitError, PolicyViolation
from agentl.kernel import execution, protocol
from agentl.kernel.action import ActionRequest, InputContract, action_from_tool, key_maker
from agentl.kernel.approval import ApprovalRecord
from agentl.kernel.authorization import Authorization, Stop, ask, call_hook, isolate, refusal
from agentl.kernel.control import CONTROL_KEY, Control, arguments, given_labels
from agentl.kernel.doubts import Doubt, Doubts, SettledDoubt
from agentl.kernel.ledger import Ledger
from agentl.kernel.names_skeleton import is_plain_name
from agentl.kernel.permit import ExecutionPermit, Held
from agentl.kernel.policy import PolicyDecision, PolicyEngine, policy_digest
from agentl.kernel.port import ActionJournal
from agentl.kernel.protocol import Judgement, PermitStage
from agentl.kernel.steps import DISCARD, Approve, Decide, Mint, StepListener
from agentl.labels import Prov
from agentl.language.nodes import Agent, CallExpr, Program, ToolDecl
from agentl.state import State

_JUDGEMENTS: Final = {judgement.value: judgement for judgement in Judgement}


class Kernel:
    """The only authority of one agent: it judges, mints permits and executes (`KRN-4`).

    Args:
        agent: the agent whose policy and declarations hold.
        run_id: names the run in action ids and idempotency keys.
        program: the whole program, for the names that guards may bind (`TRI-7`).

    Attributes:
        policy: the policy engine.
        policy_digest: the digest of the default and the rules.
        journal: ``None``, or the port of a durable journal (`DUR-5`).
        control: the decisions in force (`STM-1`).
        clock: gives the time of an approval (``host.now``), or ``None``.
        asked: the decision about which a person was asked last, for whoever keeps the question (`PRK-1`).
        rings: by name, who verifies signed approvals: ``verify(statement, by, key_id, signature)`` gives
            ``True`` for a signature of a key that the ring has for that person (`APR-7`).
        stats: ``permits`` minted; ``unpresented`` executed without the host having checked.
        steps: hears of each step of the protocol (``agentl.kernel.steps``); it can only listen.
    """

    UNDECLARED_DELEGATE_RISK: Final = "CRITICAL"
    UNDECLARED_TOOL_RISK: Final = "UNKNOWN"

    def __init__(self, agent: Agent, *, run_id: str = "run", program: Program | None = None) -> None:
        self.agent = agent
        self.run_id = run_id
        self.policy = PolicyEngine(agent, program)
        self.policy_digest = policy_digest(agent)
        self.journal: ActionJournal | None = None
        self.control = Control()
        self.clock: Callable[[], datetime] | None = None
        self.asked: PolicyDecision | None = None
        self.rings: Mapping[str, Any] = {}
        self.stats = {"permits": 0, "unpresented": 0}
        self.steps: StepListener = DISCARD
        self._tools: dict[str, tuple[ToolDecl, InputContract]] = {
            tool.name: (tool, InputContract(tool)) for tool in agent.tools if is_plain_name(tool.name)
        }
        self._key = key_maker(run_id, agent.name)
        self._ledger = Ledger(f"{run_id}:{agent.name}")
        self._doubts = Doubts()
        self._tick = 0
        self._seq = 0
        self._under_way: Held | None = None

    def set_tick(self, tick: int) -> None:
        """The tick that action ids name (`KRN-10`)."""
        self._tick = tick

    # --- proposals -------------------------------------------------------------------------

    def arguments(
        self, tool: ToolDecl | tuple[str, ...] | list[str] | None, call: CallExpr, state: State
    ) -> tuple[dict[str, Any], dict[str, Prov]]:
        """The arguments of a proposed call with their labels and ``$control`` (`TOL-1`, `KRN-18`).

        Raises whatever an argument expression raises.
        """
        return arguments(tool, call, state, self.control.label)

    def labels(self, args: Mapping[str, Any], given: Mapping[str, Any] | None) -> dict[str, Prov]:
        """Labels of arguments that came without expressions: ``given`` can only add sources (`KRN-18`)."""
        return given_labels(args, given, self.control.label)

    def propose_tool(
        self,
        name: str,
        args: dict[str, Any],
        origin: str = "plan",
        confidence: Any = 1.0,
        provenance: Mapping[str, Any] | None = None,
    ) -> tuple[ActionRequest | None, AgentLError | None]:
        """The request to call a declared tool, or why there is none (`KRN-5` to `KRN-7`).

        ``args`` is coerced in place. The error is given back, not raised.
        """
        declared = self._tools.get(name)
        if declared is None:
            return None, PolicyViolation(code="kernel.undeclared", name=name)
        tool, contract = declared
        contract.coerce(args)
        problem = contract.breach(args)
        if problem is not None:
            return None, problem
        return action_from_tool(tool, args, origin, confidence, self._provenance(provenance)), None

    def propose_delegate(
        self,
        name: str,
        args: dict[str, Any],
        confidence: Any = 1.0,
        provenance: Mapping[str, Any] | None = None,
    ) -> tuple[ActionRequest | None, AgentLError | None]:
        """The request to call a sub-agent; a homonymous tool gives its risk and contract (`KRN-8`)."""
        if not is_plain_name(name):
            return None, PolicyViolation(code="kernel.undeclared", name=name)
        labels = self._provenance(provenance)
        declared = self._tools.get(name)
        if declared is None:
            request = ActionRequest(
                name, args, self.UNDECLARED_DELEGATE_RISK, [], "delegate", confidence, labels
            )
            return request, None
        tool, contract = declared
        contract.coerce(args)
        problem = contract.breach(args)
        if problem is not None:
            return None, problem
        return action_from_tool(tool, args, "delegate", confidence, labels), None

    def _provenance(self, given: Mapping[str, Any] | None) -> dict[str, Any]:
        """The labels of a proposal; the control label is always this kernel's own, or more (`KRN-18`)."""
        label = self.control.label
        if type(given) is dict and given.get(CONTROL_KEY) is label:
            return given
        labels = dict(given) if given else {}
        own = labels.get(CONTROL_KEY)
        labels[CONTROL_KEY] = label | own if type(own) is Prov else label
        return labels

    # --- authorisation ---------------------------------------------------------------------

    def authorize(
        self,
        request: ActionRequest,
        state: State,
        *,
        approve: Callable[[ActionRequest], Any] | None = None,
        kind: str = "invoke",
        observer: Any = None,
    ) -> Authorization:
        """Judge a proposal and, when policy and people agree, mint its permit last (`KRN-3`).

        Args:
            request: the proposal; it is isolated first and never looked at again.
            state: what guards read.
            approve: asks a person, with a copy of the request; ``None`` refuses what needs approval.
            kind: ``invoke`` or ``delegate``.
            observer: may have ``decided(request, decision)``, ``pending(request, decision)`` and
                ``approver_failed(request, error)``. It can trace, never grant.

        Raises:
            PermitError: a tool asks this kernel for another action while its own is being recorded.
            KernelAbort: an interruption; KeyboardInterrupt, SystemExit and the cancellation of a task
                pass as well. Everything else that is raised on the way refuses.
        """
        if self._under_way is not None and self.journal is not None:
            # Served from its record the action under way does not run again, and what it asked for inside
            # would be missing: a journal holds one action after the other (`DUR-5`).
            held = self._under_way
            raise PermitError(code="permit.nested", kind=held.kind, target=held.target)
        try:
            frozen, digest = isolate(request, kind, self._declared)
        except Stop as stop:
            return Authorization(stop.stage, request, code=stop.code, values=stop.values)
        decision: PolicyDecision | None = None
        told = self.steps is not DISCARD
        action_id = ""
        try:
            decision, judgement = self._judge(frozen, state)
            stage = protocol.decide(PermitStage.NONE, judgement)
            if observer is not None:
                call_hook(observer, "decided", request, decision)
            if stage is PermitStage.REFUSED:
                raise Stop("policy", decision.code, **decision.values)
            self._seq = seq = self._seq + 1
            action_id = f"{self._ledger.issuer}:t{self._tick}:a{seq}"
            frozen.action_id = action_id
            frozen.hash = digest
            if told:
                self.steps(Decide(frozen.tool, action_id, stage.value))
            record: ApprovalRecord | None = None
            if stage is PermitStage.JUDGED:
                self.asked = decision
                stage, record = ask(
                    stage, frozen, request, decision, approve, observer, self.clock, self.run_id, self.rings
                )
                if told:
                    self.steps(Approve(action_id, stage.value))
        except Stop as stop:
            if told:
                refused = PermitStage.REFUSED.value
                self.steps(Approve(action_id, refused) if action_id else Decide(frozen.tool, "", refused))
            return Authorization(stop.stage, frozen, decision=decision, code=stop.code, values=stop.values)
        permit = self._ledger.mint(
            stage,
            kind,
            frozen.tool,
            frozen.args,
            digest,
            action_id,
            self._key(seq, digest),
            self.policy_digest,
            record is not None,
            frozen,
        )
        self.stats["permits"] += 1
        if told:
            self.steps(Mint(action_id))
        return Authorization("granted", frozen, permit, decision, record is not None, record=record)

    def _declared(self, target: str, kind: str) -> tuple[str, list[str]]:
        """Risk and side effects as declared (`POL-7`, `KRN-8`)."""
        declared = self._tools.get(target)
        if declared is not None:
            return declared[0].risk, list(declared[0].side_effects)
        return (self.UNDECLARED_DELEGATE_RISK if kind == "delegate" else self.UNDECLARED_TOOL_RISK), []

    def _judge(self, frozen: ActionRequest, state: State) -> tuple[PolicyDecision, Judgement]:
        try:
            decision = self.policy.check(frozen, state)
            return decision, _JUDGEMENTS[decision.verdict]
        except BaseException as problem:  # noqa: BLE001 - an error of the policy denies (POL-6)
            raise refusal("policy_error", "kernel.policy_error", problem, target=frozen.tool) from None

    # --- execution -------------------------------------------------------------------------

    def execute(self, permit: ExecutionPermit, host: Any) -> Any:
        """Run the tool of a permit, once, through the journal when there is one (`KRN-12`, `TOL-3`).

        Returns:
            The value as the program receives it (`ENC-5`); an opaque part stays visible (`ENC-6`).

        Raises:
            NotExecuted: nothing was done (or a subclass).
            ActionInDoubt: nobody knows whether it was done.
            PermitError: the permit is unknown here, used or revoked, or the arguments were changed.
            KernelAbort: the run must stop.
        """
        return self._execute(self._held(permit, "invoke"), permit, host)

    def delegate(self, permit: ExecutionPermit, host: Any) -> tuple[bool, Any]:
        """Run the sub-agent of a permit: ``(registered, result)`` (`KRN-12`).

        A sub-agent that the host does not have gives ``(False, None)``. Raises as ``execute``.
        """
        held = self._held(permit, "delegate")

        def registered() -> bool:
            return host.subagents.get(held.target) is not None

        try:
            found = registered() if self.journal is None else self.journal.lookup(held.target, registered)
        except BaseException:
            self._ledger.spend(permit)
            raise
        if not found:
            self._ledger.spend(permit)
            return False, None
        return True, self._execute(held, permit, host)

    def void(self, permit: ExecutionPermit) -> None:
        """Revoke a permit that was not used (`KRN-11`). Raises ``PermitError`` for any other."""
        self._ledger.void(permit)

    def _held(self, permit: ExecutionPermit, kind: str) -> Held:
        held = self._ledger.held(permit)
        if held.kind != kind:
            raise PermitError(
                code="permit.other",
                kind=kind,
                target=held.target,
                permit_kind=held.kind,
                permit_target=held.target,
            )
        self._ledger.start(permit)
        return held

    def _execute(self, held: Held, permit: ExecutionPermit, host: Any) -> Any:
        run = execution.Execution(permit, held, host, self.journal, self.steps)
        outer, self._under_way = self._under_way, held
        try:
            return run.run()
        finally:
            self._under_way = outer
            self._ledger.spend(permit)
            if not run.presented:
                self.stats["unpresented"] += 1
            if run.doubtful:
                self._doubts.add(_doubt_of(held, run.attempt))

    # --- doubts ----------------------------------------------------------------------------

    def doubts(self, target: str, kind: str | None = None) -> list[Doubt]:
        """The doubtful actions of a target that nobody settled yet (`TOL-8`)."""
        return self._doubts.of(target, kind)

    def declare_doubt(self, permit: ExecutionPermit) -> Doubt | None:
        """The result of a spent permit broke its OUTPUT contract: its action is in doubt (`TOL-4`).

        ``None`` when the result is a verdict's: a person knows that the action took place, and a value
        that does not fit raises no new doubt (`TOL-8`).

        Raises:
            PermitError: the permit had no execution of this kernel.
        """
        held = self._ledger.spent(permit)
        if held.by_verdict:
            return None
        doubt = _doubt_of(held, 1)
        if self.journal is not None:
            self.journal.doubt(permit)
        self._doubts.add(doubt)
        return doubt

    def reconcile(self, target: str, kind: str, host: Any) -> list[SettledDoubt]:
        """Ask the world about the doubtful actions of a target, at most once per tick (`TOL-8`).

        What a reconciler raises changes nothing. To be called before the next call is judged.
        """
        open_doubts = self._doubts.of(target, kind)
        if not open_doubts or not self._doubts.may_ask(target, kind, self._tick):
            return []
        promising = "reconcilable" in execution.promised(host, target, kind)
        settled = []
        for doubt in open_doubts:
            found = self._asked(doubt, host, promising)
            if found is not None:
                settled.append(self._doubts.settle(doubt.action_id, found[0], found[1], None))
        return settled

    def _asked(self, doubt: Doubt, host: Any, promising: bool) -> tuple[bool, Any] | None:
        journal = self.journal
        token = None if journal is None else journal.fencing_token

        def ask() -> tuple[bool, Any]:
            return execution.reconcile(host, doubt, doubt.request.args, doubt.attempt, token)

        try:
            if journal is not None:
                return journal.reconcile(doubt.target, doubt.action_id, ask if promising else None)
            return ask() if promising else None
        except Exception as problem:  # noqa: BLE001 - a reconciler that raises does not know
            execution.let_through(problem)
            return None

    def verdicts(self) -> list[SettledDoubt]:
        """Apply the operator's verdicts that wait at the start of this tick (`RES-10`, `TCK-2`)."""
        if self.journal is None:
            return []
        return [
            self._doubts.settle(verdict.action_id, verdict.executed, verdict.value, verdict.by)
            for verdict in self.journal.verdicts()
            if self._doubts.find(verdict.action_id) is not None
        ]


def _doubt_of(held: Held, attempt: int) -> Doubt:
    return Doubt(
        held.kind, held.target, held.action_id, held.idempotency_key, held.action_hash, held.request, attempt
    )


__all__ = ["Authorization", "Kernel"]
