"""Wordings of the interpreter, its evaluation and its trace (codes `eval.` `state.` `sensor.` `tool.` …)."""

from __future__ import annotations

from typing import Final

TEXTS: Final[dict[str, tuple[str, str]]] = {
    # --- programs that this version cannot run ---
    "runtime.hypothesis": (
        "l'agent {agent} déclare l'hypothèse {name} (ligne {line}) : l'inférence n'est pas disponible "
        "dans cette "
        "version ; retirez la section HYPOTHESIS pour exécuter le programme",
        "agent {agent} declares hypothesis {name} (line {line}): inference is not available in this version; "
        "remove the HYPOTHESIS section to run the program",
    ),
    "runtime.planner": (
        "l'agent {agent} active PLANNER (ligne {line}) : la synthèse de plans n'est pas disponible "
        "dans cette "
        "version ; retirez la section PLANNER pour exécuter le programme",
        "agent {agent} enables PLANNER (line {line}): plan synthesis is not available in this version; "
        "remove the "
        "PLANNER section to run the program",
    ),
    "runtime.society": (
        "le programme déclare plusieurs agents ({agents}) : les sociétés ne sont pas disponibles dans cette "
        "version ; exécutez un programme d'un seul agent",
        "the program declares several agents ({agents}): societies are not available in this version; run a "
        "program of one agent",
    ),
    "runtime.scenario": (
        "l'agent {agent} déclare le scénario {name} (ligne {line}) : l'exécution des scénarios n'est "
        "pas disponible "
        "dans cette version",
        "agent {agent} declares scenario {name} (line {line}): running scenarios is not available in "
        "this version",
    ),
    "runtime.phase": (
        "la phase {phase} n'est pas disponible dans cette version (agent {agent}, ligne {line}) ; "
        "retirez-la du LOOP",
        "phase {phase} is not available in this version (agent {agent}, line {line}); remove it from "
        "the LOOP",
    ),
    "runtime.unknown_plan": (
        "le plan {plan} n'est pas déclaré par l'agent {agent}",
        "plan {plan} is not declared by agent {agent}",
    ),
    "runtime.bucket": (
        "{bucket} n'est pas un compartiment de mémoire ; utilisez SHORT_TERM, LONG_TERM, KNOWLEDGE ou SHARED",
        "{bucket} is not a memory compartment; use SHORT_TERM, LONG_TERM, KNOWLEDGE or SHARED",
    ),
    "llm.no_key": (
        "aucune clé pour le modèle : donnez api_key ou la variable {variable}",
        "no key for the model: give api_key or the variable {variable}",
    ),
    "llm.no_library": (
        "la bibliothèque {library} n'est pas installée ; installez agentl avec l'extra {extra}",
        "the library {library} is not installed; install agentl with the extra {extra}",
    ),
    # --- contexts of a condition (EVA-12) and of a value (EVA-13) ---
    "context.plan": ("WHEN du plan {name}", "WHEN of plan {name}"),
    "context.decide": ("règle DECIDE", "DECIDE rule"),
    "context.if": ("IF", "IF"),
    "context.event": ("ON {name}", "ON {name}"),
    "context.message": ("ON MESSAGE {name}", "ON MESSAGE {name}"),
    "context.observe": ("OBSERVE {name}", "OBSERVE {name}"),
    "context.memory": ("garde d'écriture de {name}", "memory-write guard of {name}"),
    "context.goal": ("GOAL {name}", "GOAL {name}"),
    "context.target": ("TARGET de {name}", "TARGET of {name}"),
    "context.loop": ("LOOP UNTIL", "LOOP UNTIL"),
    "context.agent_loop": ("LOOP UNTIL de l'agent", "agent LOOP UNTIL"),
    "context.requires": ("REQUIRES de {name}()", "REQUIRES of {name}()"),
    "context.verify": ("VERIFY", "VERIFY"),
    "context.payload": ("champ {name} du message {message}", "field {name} of message {message}"),
    "context.effect": ("EFFECT {name} de {tool}()", "EFFECT {name} of {tool}()"),
    "context.belief": ("BELIEF {name}", "BELIEF {name}"),
    "context.degrade": ("DEGRADE de {name}", "DEGRADE of {name}"),
    "context.default": ("DEFAULT de {name}", "DEFAULT of {name}"),
    "context.store": ("STORE {name}", "STORE {name}"),
    "context.foreach": ("source de FOREACH {name}", "source of FOREACH {name}"),
    "context.set": ("SET {name}", "SET {name}"),
    # --- tick ---
    "tick.start": ("tick {tick}", "tick {tick}"),
    "loop.until": ("condition d'arrêt atteinte (LOOP UNTIL)", "stop condition reached (LOOP UNTIL)"),
    # --- evaluation ---
    "eval.condition": ("condition non évaluable : {context}", "condition cannot be evaluated: {context}"),
    "eval.condition.detail": ("{error} : compte comme faux", "{error}: counts as false"),
    "eval.value": ("valeur non évaluable : {context}", "value cannot be evaluated: {context}"),
    "eval.value.detail": ("{error} : sans effet", "{error}: does not act"),
    # --- sensors and beliefs ---
    "sensor.read": ("{path} = {value}", "{path} = {value}"),
    "sensor.mute": ("{path} est muet et reste indéfini", "{path} is mute and stays undefined"),
    "sensor.mute.detail": (
        "aucun ON UNKNOWN : les gardes refusent par défaut (W131)",
        "no ON UNKNOWN: guards fail closed (W131)",
    ),
    "sensor.stale": (
        "{path} est muet, dernière valeur conservée : {value}",
        "{path} is mute, last value kept: {value}",
    ),
    "sensor.stale.detail": ("âge : {age} tick(s)", "age: {age} tick(s)"),
    "sensor.degraded": (
        "{path} est muet, valeur de repli : {value}",
        "{path} is mute, fallback used: {value}",
    ),
    "sensor.degraded.detail": ("déclarée, non mesurée", "declared, not measured"),
    "sensor.escalated": ("{path} est muet, l'opérateur est prévenu", "{path} is mute, the operator is asked"),
    "sensor.escalated.detail": ("ON UNKNOWN ESCALATE", "ON UNKNOWN ESCALATE"),
    "sensor.failed": ("le capteur {path} a échoué", "sensor {path} failed"),
    "sensor.failed.detail": ("{error}", "{error}"),
    "sensor.recheck_mute": (
        "{path} est muet à la re-perception, sa valeur est invalidée",
        "{path} is mute when re-perceived, its value is invalidated",
    ),
    "belief.changed": ("{path}: {before} → {after}", "{path}: {before} → {after}"),
    "belief.rechecked": ("{path} → {value}", "{path} → {value}"),
    "belief.rechecked.detail": ("re-perception", "re-perception"),
    "drift.denied": (
        "l'effet prédit par {tool} est démenti : {path} = {predicted}",
        "the effect predicted by {tool} is denied: {path} = {predicted}",
    ),
    "drift.denied.detail": (
        "observé {observed}, démentis {denied}/{judged}",
        "observed {observed}, denials {denied}/{judged}",
    ),
    "drift.loaded": (
        "registre de dérive des effets rechargé : {pairs} couple(s)",
        "effect-drift registry reloaded: {pairs} pair(s)",
    ),
    "drift.report": ("dérive des effets :", "effect drift:"),
    "drift.line": (
        "{confirmed}/{judged} confirmation(s), crédibilité {credibility}",
        "{confirmed}/{judged} confirmed, credibility {credibility}",
    ),
    "goal.score": ("{goal} score={score}", "{goal} score={score}"),
    "goal.score.detail": ("{mode}", "{mode}"),
    # --- events and messages ---
    "payload.masked": (
        "le contenu de {holder} ne masque pas un nom déjà connu : {keys}",
        "the payload of {holder} does not mask a known name: {keys}",
    ),
    "payload.masked.detail": ("à lire sous {readable}", "read as {readable}"),
    "event.handled": ("événement {source}", "event {source}"),
    "event.handled.detail": ("{payload}", "{payload}"),
    "event.filtered": ("événement {source} filtré par WHEN", "event {source} filtered by WHEN"),
    "event.filtered.detail": ("{payload}", "{payload}"),
    "event.unhandled": ("événement {source} sans gestionnaire", "event {source} without handler"),
    "event.unhandled.detail": ("{payload}", "{payload}"),
    "event.queue_failed": ("la file d'événements a échoué", "the event queue failed"),
    "event.queue_failed.detail": ("{error}", "{error}"),
    "event.queue_malformed": (
        "la file d'événements n'a pas rendu de liste d'événements",
        "the event queue gave no list of events",
    ),
    "event.queue_malformed.detail": ("{type}", "{type}"),
    "message.received": ("{message} ← {sender}", "{message} ← {sender}"),
    "message.received.detail": ("{payload}", "{payload}"),
    "message.ignored": ("message {message} de {sender} ignoré", "message {message} from {sender} ignored"),
    "message.ignored.detail": ("aucun gestionnaire", "no handler"),
    "message.filtered": (
        "message {message} de {sender} filtré par WHEN",
        "message {message} from {sender} filtered by WHEN",
    ),
    "message.filtered.detail": ("{payload}", "{payload}"),
    "message.undelivered": (
        "message {message} pour {target} non remis",
        "message {message} to {target} not delivered",
    ),
    "message.undelivered.detail": ("aucune société", "no society"),
    "message.all": ("tous", "all"),
    # --- plans ---
    "plan.queued": ("plan {plan} en file", "plan {plan} queued"),
    "why.when": ("WHEN vrai", "WHEN true"),
    "why.direct": ("demandé par une instruction", "asked by a statement"),
    "why.llm": ("choisi par le modèle", "chosen by the model"),
    "plan.started": ("plan {plan}", "plan {plan}"),
    "plan.restarted": ("tentative {attempt}", "attempt {attempt}"),
    "plan.undeclared": ("plan {plan} non déclaré", "plan {plan} is not declared"),
    "plan.step": ("STEP {step}", "STEP {step}"),
    "plan.retry": ("plan {plan}, reprise {attempt}/{limit}", "plan {plan}, retry {attempt}/{limit}"),
    "plan.retry.detail": ("depuis STEP {step}", "from STEP {step}"),
    # --- tool calls ---
    "tool.done": ("{action}", "{action}"),
    "tool.done.detail": ("risk={risk} → {result}", "risk={risk} → {result}"),
    "tool.refused": ("{action} refusée", "{action} refused"),
    "approval.pending": ("{action} en attente d'accord", "{action} waiting for approval"),
    "approval.given": ("{action} approuvée", "{action} approved"),
    "approval.given.detail": ("par {by}", "by {by}"),
    "approval.denied": ("{action} : accord refusé", "{action}: approval denied"),
    "approval.expired": ("{action} : demande d'accord expirée", "{action}: approval expired"),
    "approval.failed": ("l'approbateur a échoué", "the approver failed"),
    "approval.failed.detail": ("{error} : refusé", "{error}: refused"),
    "pol.shadowed": (
        "{action} : la garde a jugé l'argument {argument}",
        "{action}: the guard judged the argument {argument}",
    ),
    "pol.shadowed.detail": (
        "{argument} = {value}, valeur cachée : {hidden}",
        "{argument} = {value}, hidden value: {hidden}",
    ),
    "tool.input": ("{tool} : contrat d'entrée non tenu", "{tool}: input contract broken"),
    "tool.arguments": ("{tool} : arguments non évaluables", "{tool}: arguments cannot be evaluated"),
    "tool.arguments.detail": ("{error}", "{error}"),
    "tool.undeclared": ("outil {tool} non déclaré", "tool {tool} is not declared"),
    "tool.undeclared.detail": ("il n'existe pas pour le runtime", "it does not exist for the runtime"),
    "tool.skipped": (
        "{tool} non appelé : REQUIRES n'est plus vrai",
        "{tool} skipped: REQUIRES no longer holds",
    ),
    "tool.circuit_open": ("{action} non tentée : circuit ouvert", "{action} not tried: circuit open"),
    "tool.circuit_open.detail": (
        "{failures} échec(s), prochain essai dans {ticks} tick(s)",
        "{failures} failure(s), next try in {ticks} tick(s)",
    ),
    "tool.failed": ("{tool} a échoué", "{tool} failed"),
    "tool.failed.detail": (
        "{error}, {failures} échec(s) de suite",
        "{error}, {failures} failure(s) in a row",
    ),
    "tool.in_doubt": ("l'effet de {tool} est indéterminé", "the effect of {tool} is in doubt"),
    "tool.in_doubt.detail": ("{action_id}", "{action_id}"),
    "tool.settled": ("{tool} ({action_id}) : doute levé", "{tool} ({action_id}): doubt settled"),
    "tool.settled_executed": ("exécutée, selon {by}", "executed, says {by}"),
    "tool.settled_not_executed": ("non exécutée, selon {by}", "not executed, says {by}"),
    "tool.output": ("{tool} : contrat de sortie non tenu", "{tool}: output contract broken"),
    "tool.output_dropped": ("{tool} : sorties non déclarées écartées", "{tool}: undeclared outputs dropped"),
    "tool.output_dropped.detail": ("{keys}", "{keys}"),
    "tool.output_ignored": ("{tool} : aucune sortie déclarée", "{tool}: no output declared"),
    "tool.output_ignored.detail": ("{keys}", "{keys}"),
    "output.not_dictionary": (
        "un dictionnaire est attendu, reçu {type} ; {consequence}",
        "a dictionary is wanted, got {type}; {consequence}",
    ),
    "output.missing": (
        "la clé {key} manque ; {consequence}",
        "key {key} is missing; {consequence}",
    ),
    "output.type": (
        "{key} doit être {wanted}, reçu {type} ; {consequence}",
        "{key} must be {wanted}, got {type}; {consequence}",
    ),
    "output.not_finite": (
        "{key} n'est pas un nombre fini ({value}) ; {consequence}",
        "{key} is not a finite number ({value}); {consequence}",
    ),
    "output.opaque": (
        "le résultat contient une valeur sans forme enregistrable ({type}) ; {consequence}",
        "the result holds a value that cannot be stored ({type}); {consequence}",
    ),
    "output.in_doubt": (
        "l'effet est indéterminé, rien n'est lié",
        "the effect is in doubt, nothing is bound",
    ),
    "output.failed": ("l'appel a échoué, rien n'est lié", "the call failed, nothing is bound"),
    "output.settled": ("le doute est levé, rien n'est lié", "the doubt is settled, nothing is bound"),
    # --- verification, assignment, loops ---
    "verify.ok": ("{label}", "{label}"),
    "verify.fail": ("{label}", "{label}"),
    "verify.fail.detail": ("{notes}", "{notes}"),
    "stm.set": ("SET {path} = {value}", "SET {path} = {value}"),
    "stm.set_failed": ("SET {path} a échoué, rien n'est écrit", "SET {path} failed, nothing is written"),
    "stm.set_failed.detail": ("{error}", "{error}"),
    "stm.set_refused": ("SET {path} refusé, rien n'est écrit", "SET {path} refused, nothing is written"),
    "stm.set_reserved": ("racine réservée au runtime", "root reserved for the runtime"),
    "stm.set_observed": (
        "chemin observé : seuls les capteurs l'écrivent",
        "observed path: only sensors write it",
    ),
    "state.reserved": (
        "{path} est sous une racine réservée, rien n'est écrit",
        "{path} is under a reserved root, nothing is written",
    ),
    "foreach.start": ("FOREACH {variable} : {count} élément(s)", "FOREACH {variable}: {count} item(s)"),
    "foreach.truncated": (
        "FOREACH limité : {count} élément(s), MAX {limit}",
        "FOREACH cut: {count} item(s), MAX {limit}",
    ),
    "foreach.not_collection": (
        "la source de FOREACH {source} n'est pas une collection",
        "the source of FOREACH {source} is not a collection",
    ),
    "foreach.bound": ("collections connues : {collections}", "bound collections: {collections}"),
    "foreach.none_bound": ("aucune collection connue", "no collection is bound"),
    "stm.phase_refused": (
        "la phase {phase} n'est permise que dans le LOOP de l'agent",
        "phase {phase} is allowed in the agent loop only",
    ),
    "stm.unsupported": ("instruction inconnue : {type}", "unknown statement: {type}"),
    "stm.rollback": (
        "ROLLBACK demandé : aucun effet n'est annulé automatiquement",
        "ROLLBACK asked: no effect is undone automatically",
    ),
    "stm.escalated": ("escalade vers l'opérateur", "escalation to the operator"),
    # --- people ---
    "ask.question": ("{who} : {question}", "{who} : {question}"),
    "ask.question.detail": ("{reason}", "{reason}"),
    "text.none": ("", ""),
    "ask.answer": ("réponse : {answer}", "answer: {answer}"),
    "ask.answer.detail": ("{who}", "{who}"),
    "ask.unreachable": ("aucun opérateur joignable", "no operator can be reached"),
    "ask.unreachable.detail": ("{error} : aucune réponse", "{error}: no answer"),
    "ask.escalate": (
        "une escalade est requise : que faut-il faire ?",
        "an escalation is required: what should be done?",
    ),
    "ask.mute_sensor": (
        "le capteur {path} est muet : que faut-il faire ?",
        "sensor {path} is mute: what should be done?",
    ),
    # --- sub-agents ---
    "delegate.called": ("{agent} ← « {task} »", "{agent} ← « {task} »"),
    "delegate.done": ("{agent} → {produced}", "{agent} → {produced}"),
    "delegate.failed": ("le sous-agent {agent} a échoué", "sub-agent {agent} failed"),
    "delegate.failed.detail": ("{error}", "{error}"),
    "delegate.unregistered": (
        "le sous-agent {agent} n'est pas enregistré",
        "sub-agent {agent} is not registered",
    ),
    "delegate.malformed": (
        "le sous-agent {agent} n'a pas rendu de dictionnaire",
        "sub-agent {agent} answered no dictionary",
    ),
    "delegate.malformed.detail": ("{type}", "{type}"),
    "delegate.expect": ("la réponse de {agent} est incomplète", "the answer of {agent} is incomplete"),
    "delegate.expect.detail": ("{keys}", "{keys}"),
    # --- model statements ---
    "llm.answer": ("{keyword} « {task} »", "{keyword} « {task} »"),
    "llm.answer.detail": ("{produced}", "{produced}"),
    "llm.mute": ("{keyword} « {task} » : aucune réponse", "{keyword} « {task} » : no answer"),
    "llm.mute.detail": ("{fields}", "{fields}"),
    "llm.partial": ("{keyword} « {task} » : réponse partielle", "{keyword} « {task} » : partial answer"),
    "llm.partial.detail": ("{fields}", "{fields}"),
    "llm.abstained": ("{keyword} « {task} » : abstention", "{keyword} « {task} » : abstention"),
    "llm.abstained.detail": ("{fields}", "{fields}"),
    "llm.failed": ("{keyword} « {task} »", "{keyword} « {task} »"),
    "llm.failed.detail": ("{error}", "{error}"),
    "llm.malformed": ("un dictionnaire est attendu, reçu {type}", "a dictionary is wanted, got {type}"),
    "llm.select_failed": ("le modèle n'a pas pu choisir de plan", "the model could not choose a plan"),
    "llm.select_failed.detail": ("{error}", "{error}"),
    "llm.out_of_domain": ("{field} hors domaine", "{field} out of domain"),
    "llm.out_of_domain.detail": ("{value} hors de {domain} → {became}", "{value} not in {domain} → {became}"),
    "llm.not_finite": ("{field} n'est pas un nombre fini", "{field} is not a finite number"),
    "llm.not_finite.detail": ("{value} hors de {domain} → {became}", "{value} not in {domain} → {became}"),
    "llm.plan": ("plan choisi : {plan}", "plan chosen: {plan}"),
    "llm.unknown_plan": (
        "plan inconnu nommé par le modèle : {plan}",
        "unknown plan named by the model: {plan}",
    ),
    "llm.withheld": ("{path} retenu", "{path} withheld"),
    "llm.withheld.detail": ("NEVER SEND", "NEVER SEND"),
    # --- memory ---
    "memory.write": ("{bucket}.{key} ← {record}", "{bucket}.{key} ← {record}"),
    "shared.write": ("{key} v{version} ← {record}", "{key} v{version} ← {record}"),
    "shared.conflict": (
        "{key} a été écrite par un autre agent depuis la dernière écriture",
        "{key} was written by another agent since the last write",
    ),
    "eval.unresolved": ("`{path}` n'a pas de valeur", "`{path}` has no value"),
    "eval.undefined": (
        "`{operator}` : un côté n'a pas de valeur (ligne {line})",
        "`{operator}`: a side has no value (line {line})",
    ),
    "eval.unorderable": (
        "{left} {operator} {right} : ces valeurs ne s'ordonnent pas",
        "{left} {operator} {right}: these values have no order",
    ),
    "eval.unanswered": (
        "{function}({path}) : rien n'est connu de `{path}`",
        "{function}({path}): nothing is known about `{path}`",
    ),
    "eval.not_numeric": (
        "{value} n'est pas un nombre (ligne {line}) ; calculez sur des nombres",
        "{value} is not a number (line {line}); calculate with numbers",
    ),
    "eval.decimal_float": (
        "{left} et {right} : un décimal ne se mêle pas à un flottant (ligne {line}) ; convertissez-en un",
        "{left} and {right}: a decimal does not mix with a float (line {line}); convert one of them",
    ),
    "eval.overflow": (
        "`{operator}` : le résultat n'a pas de forme exacte ou finie (ligne {line}) ; réduisez les opérandes",
        "`{operator}`: the result has no exact or finite form (line {line}); use smaller operands",
    ),
    "eval.arguments": (
        "{function} : arguments inattendus (ligne {line}) ; voir spec/logic.md, EVA-10",
        "{function}: unexpected arguments (line {line}); see spec/logic.md, EVA-10",
    ),
    "eval.path_argument": (
        "{function} attend un chemin (ligne {line}) ; donnez le nom d'une valeur",
        "{function} takes a path (line {line}); give the name of a value",
    ),
    "eval.attested_action": (
        "ATTESTED ne s'applique pas à `action` (ligne {line}) ; nommez un argument",
        "ATTESTED does not apply to `action` (line {line}); name an argument",
    ),
    "eval.impure": (
        "{function} ne s'appelle pas dans une expression (ligne {line}) ; appelez l'outil dans un plan",
        "{function} cannot be called in an expression (line {line}); call the tool in a plan",
    ),
    "eval.no_expression": (
        "{type} n'est pas une expression (ligne {line}) ; construisez l'arbre avec les nœuds d'expression",
        "{type} is not an expression (line {line}); build the tree from expression nodes",
    ),
}
