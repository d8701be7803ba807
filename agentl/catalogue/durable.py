"""Wordings of durable runs (codes `durable.`)."""

from __future__ import annotations

from typing import Final

TEXTS: Final[dict[str, tuple[str, str]]] = {
    # What a run says of itself (DCL-1); the French lines are those of the seed.
    "durable.started": (
        "→ exécution durable {run_id} : {file}",
        "→ durable run {run_id}: {file}",
    ),
    "durable.resumed": (
        "↻ reprise de l'exécution durable {run_id} : {entries} entrée(s) journalisée(s), re-dérivées "
        "sans effet",
        "↻ resuming durable run {run_id}: {entries} journalled entries, re-derived without effect",
    ),
    "durable.pending": (
        "  intention sans résultat : {target} ({action_id}) — sera tranchée",
        "  intention without a result: {target} ({action_id}) — will be settled",
    ),
    "durable.how_retry": (
        "relancée avec la même clé d'idempotence",
        "called again under the same idempotency key",
    ),
    "durable.how_reconciled": (
        "l'effet avait eu lieu, son résultat est repris",
        "the effect had taken place, its result is taken over",
    ),
    "durable.how_not_executed": (
        "l'effet n'avait pas eu lieu, l'action est exécutée",
        "the effect had not taken place, the action is executed",
    ),
    "durable.how_in_doubt": (
        "indéterminée, non relancée ; à trancher par un humain (agentl durable settle)",
        "in doubt, not run again; for a human to settle (agentl durable settle)",
    ),
    "durable.how_verdict": ("verdict de {by} : {verdict}", "verdict of {by}: {verdict}"),
    "durable.verdict_executed": ("exécutée", "executed"),
    "durable.verdict_not_executed": ("non exécutée", "not executed"),
    "durable.promise_changed": (
        "! {target} : l'hôte promettait « {recorded} », il promet maintenant « {now} » ; "
        "seule une promesse tenue aux deux moments sert à trancher",
        "! {target}: the host promised “{recorded}”, now it promises “{now}”; "
        "only a promise made both times is used to settle",
    ),
    "durable.already_completed": (
        "exécution durable {run_id} déjà terminée ({ticks} tick(s), {reason}) : rien n'a été appelé",
        "durable run {run_id} is already completed ({ticks} ticks, {reason}): nothing was called",
    ),
    "durable.in_doubt": (
        "action {action_id} indéterminée : l'effet a peut-être eu lieu, elle n'est pas relancée",
        "action {action_id} is in doubt: the effect may have taken place, it is not run again",
    ),
    "durable.resume_failed": (
        "reprise refusée : {message}",
        "resume refused: {message}",
    ),
    # Status, list, export, settle (DCL-3 to DCL-6).
    "durable.status": ("exécution {run_id} : {status} ({agents})", "run {run_id}: {status} ({agents})"),
    "durable.last_refusal": (
        "  dernière reprise refusée le {at} : {message}",
        "  last resume refused at {at}: {message}",
    ),
    "durable.counts": ("  {entries} entrée(s) : {kinds}", "  {entries} entries: {kinds}"),
    "durable.head": ("  chaîne intacte, tête {head}", "  chain intact, head {head}"),
    "durable.empty": ("  journal vide", "  empty journal"),
    "durable.holder": ("  pilotée par {holder} depuis {since}", "  driven by {holder} since {since}"),
    "durable.will_settle": (
        "{target} ({action_id}) : intention sans résultat, sera tranchée à la reprise",
        "{target} ({action_id}): intention without a result, will be settled on resume",
    ),
    "durable.unsettled": (
        "{target} ({action_id}) : indéterminée, attend un verdict (agentl durable settle)",
        "{target} ({action_id}): in doubt, waits for a verdict (agentl durable settle)",
    ),
    "durable.cancelled": (
        "l'exécution a été annulée par {by} le {at} ({reason}) ; elle ne reprend pas, "
        "voyez `agentl durable show`",
        "the run was cancelled by {by} at {at} ({reason}); it does not go on, see `agentl durable show`",
    ),
    "durable.cancel_over": (
        "l'exécution {run_id} est déjà terminée ; il n'y a plus rien à annuler",
        "the run {run_id} is over; there is nothing left to cancel",
    ),
    "durable.cancel_done": (
        "exécution {run_id} annulée par {by} : {done} effet(s) accompli(s), {unknown} inconnu(s)",
        "run {run_id} cancelled by {by}: {done} effect(s) done, {unknown} unknown",
    ),
    "durable.cancel_before": (
        "exécution {run_id} déjà annulée par {by} le {at} : {done} effet(s) accompli(s), "
        "{unknown} inconnu(s)",
        "run {run_id} was cancelled by {by} at {at}: {done} effect(s) done, {unknown} unknown",
    ),
    "durable.cancel_stays": (
        "{target} ({action_id}) : accompli, et non annulé",
        "{target} ({action_id}): done, and not undone",
    ),
    "durable.cancel_unknown": (
        "{target} ({action_id}) : inconnu ; à trancher avec `agentl durable settle`",
        "{target} ({action_id}): unknown; to be settled with `agentl durable settle`",
    ),
    "durable.none": (
        "aucune exécution durable dans {directory} (pas de wal.jsonl) ; vérifiez le répertoire",
        "no durable run in {directory} (no wal.jsonl); check the directory",
    ),
    "durable.exported": (
        "{file} : {entries} entrée(s), dont {annotations} annotation(s) qu'un rejeu saute",
        "{file}: {entries} entries, {annotations} of them annotations that a replay skips",
    ),
    "durable.not_completed": (
        "l'exécution de {directory} n'est pas terminée : reprenez-la avant de l'exporter",
        "the run in {directory} is not completed: resume it before exporting it",
    ),
    "durable.settled": ("{target} ({action_id}) : {verdict}", "{target} ({action_id}): {verdict}"),
    # The columns of a list, divided by tabs (DCL-6, OPS-4).
    "durable.run": (
        "{directory}\t{run_id}\t{status}\ttick {last_tick}\t{age}\t{idle}\t{doubts}\t{waits}",
        "{directory}\t{run_id}\t{status}\ttick {last_tick}\t{age}\t{idle}\t{doubts}\t{waits}",
    ),
    "durable.list_address": ("ADRESSE", "ADDRESS"),
    "durable.list_run": ("EXÉCUTION", "RUN"),
    "durable.list_state": ("ÉTAT", "STATE"),
    "durable.list_tick": ("TICK", "TICK"),
    "durable.list_age": ("ÂGE", "AGE"),
    "durable.list_idle": ("DEPUIS", "SINCE"),
    "durable.list_doubts": ("DOUTES", "DOUBTS"),
    "durable.list_waits": ("ATTEND", "WAITS FOR"),
    "durable.list_kind_approval": ("accord", "approval"),
    "durable.list_kind_question": ("réponse", "answer"),
    "durable.list_kind_timer": ("heure", "time"),
    "durable.list_pending": ("{count} à trancher", "{count} to settle"),
    "durable.list_total": ("{counts} ; {basis}", "{counts}; {basis}"),
    "durable.list_basis_chain": ("d'après les journaux, relus", "from the journals, which were read"),
    "durable.list_basis_notes": (
        "d'après les notes, les baux et les demandes ; tous les journaux n'ont pas été relus "
        "(--check les relit)",
        "from notes, leases and requests; not every journal was read (--check reads them)",
    ),
    "durable.age_days": ("{count} j", "{count} d"),
    "durable.age_hours": ("{count} h", "{count} h"),
    "durable.age_minutes": ("{count} min", "{count} min"),
    "durable.age_seconds": ("{count} s", "{count} s"),
    "durable.no_runs": ("aucune exécution durable sous {directory}", "no durable run below {directory}"),
    # Addresses of places (OPS-1).
    "durable.address_empty": (
        "l'adresse de l'exécution durable est vide ; donnez un répertoire, sqlite:FICHIER#ID ou "
        "postgres://SERVEUR/BASE#ID",
        "the address of the durable run is empty; give a directory, sqlite:FILE#RUN or "
        "postgres://SERVER/DATABASE#RUN",
    ),
    "durable.address_sign": (
        "l'adresse {address} contient un octet nul ; donnez un chemin lisible",
        "the address {address} holds a null byte; give a readable path",
    ),
    "durable.address_scheme": (
        "l'adresse {address} commence par {scheme}:, qui n'est pas connu ; utilisez sqlite: ou postgres://, "
        "ou écrivez ./{address} si c'est un répertoire",
        "the address {address} begins with {scheme}:, which is not known; use sqlite: or postgres://, "
        "or write ./{address} if it is a directory",
    ),
    "durable.address_slashes": (
        "l'adresse {address} a deux barres après sqlite: ; écrivez sqlite:CHEMIN, le chemin tel quel",
        "the address {address} has two slashes behind sqlite:; write sqlite:PATH, with the path as it is",
    ),
    "durable.address_no_file": (
        "l'adresse {address} ne nomme aucun fichier ; écrivez sqlite:FICHIER#ID",
        "the address {address} names no file; write sqlite:FILE#RUN",
    ),
    "durable.address_memory": (
        "l'adresse {address} ne survit pas au processus ; donnez un fichier",
        "the address {address} does not outlive the process; give a file",
    ),
    "durable.address_server": (
        "l'adresse {address} ne nomme pas un serveur ; écrivez postgres://UTILISATEUR@HÔTE:PORT/BASE#ID",
        "the address {address} does not name a server; write postgres://USER@HOST:PORT/DATABASE#RUN",
    ),
    "durable.address_no_run": (
        "{address} peut contenir plusieurs exécutions ; ajoutez #ID (agentl durable list les montre)",
        "{address} may hold many runs; add #RUN (agentl durable list shows them)",
    ),
    "durable.address_many": (
        "{address} contient {runs} exécution(s) dans ses sous-répertoires ; nommez-en une "
        "(agentl durable list les montre)",
        "{address} holds {runs} runs in its directories; name one of them (agentl durable list shows them)",
    ),
    "durable.none_in": (
        "aucune exécution {run_id} dans {place} ; vérifiez l'identifiant avec agentl durable list",
        "no run {run_id} in {place}; check the id with agentl durable list",
    ),
    "durable.no_database": (
        "{path} n'est pas une base SQLite ; donnez le fichier d'une base, ou un nom encore libre",
        "{path} is not a SQLite database; give the file of one, or a name that is still free",
    ),
    "durable.no_place": (
        "{place} n'existe pas ; vérifiez l'adresse",
        "{place} does not exist; check the address",
    ),
    # Journals and runs that are refused (DRF-1).
    "durable.bad_sequence": (
        "journal durable altéré au franchissement #{entry} : numéro {found} à cette place ; "
        "restaurez le journal d'origine",
        "durable journal altered at entry #{entry}: number {found} in its place; restore the "
        "original journal",
    ),
    "durable.altered": (
        "journal durable altéré au franchissement #{entry} : la chaîne ne se vérifie plus ; "
        "restaurez le journal d'origine",
        "durable journal altered at entry #{entry}: the chain no longer verifies; restore the "
        "original journal",
    ),
    "durable.unknown_format": (
        "format de journal inconnu à l'entrée #0 : {format} (lu : {wanted}) ; utilisez la version d'AGENT-L "
        "qui l'a écrit",
        "unknown journal format at entry #0: {format} (readable: {wanted}); use the AGENT-L version "
        "that wrote it",
    ),
    "durable.program_changed": (
        "le programme a changé depuis le début de cette exécution {run_id} : reprenez avec le "
        "programme d'origine, "
        "ou commencez une autre exécution dans un autre répertoire",
        "the program has changed since this run {run_id} began: resume with the original program, "
        "or start another run in another directory",
    ),
    "durable.other_run": (
        "ce journal est celui de l'exécution {found}, pas de {wanted} ; corrigez l'identifiant ou le "
        "répertoire",
        "this journal belongs to run {found}, not to {wanted}; correct the run id or the directory",
    ),
    "durable.no_open": (
        "l'entrée #0 n'ouvre pas une exécution durable ; ce fichier n'est pas un journal complet",
        "entry #0 does not open a durable run; this file is not a complete journal",
    ),
    "durable.tick_limit": (
        "cette exécution inachevée a pour limite {stored} tick(s), pas {asked} ; relancez sans limite, "
        "puis prolongez-la quand elle sera terminée",
        "this unfinished run has a limit of {stored} ticks, not {asked}; run it without a limit, "
        "then extend it once it is completed",
    ),
    "durable.empty_line": (
        "{file} : ligne vide à la place de l'entrée #{position} ; restaurez le journal d'origine",
        "{file}: empty line in place of entry #{position}; restore the original journal",
    ),
    "durable.unreadable_line": (
        "{file} : entrée #{position} illisible ; restaurez le journal d'origine",
        "{file}: entry #{position} cannot be read; restore the original journal",
    ),
    "durable.cut_tail": (
        "la fin du journal a été coupée : {claimed} entrée(s) annoncée(s), {held} présente(s) ; "
        "restaurez le journal d'origine",
        "the end of the journal was cut off: {claimed} entries claimed, {held} held; restore the "
        "original journal",
    ),
    "durable.key_missing": (
        "ce journal est chaîné avec la clé {key_id} : donnez-la par --key ou AGENTL_JOURNAL_KEY",
        "this journal is chained with key {key_id}: give it with --key or AGENTL_JOURNAL_KEY",
    ),
    "durable.key_other": (
        "ce journal est chaîné avec la clé {recorded}, pas avec {given} ; donnez la bonne clé",
        "this journal is chained with key {recorded}, not with {given}; give the right key",
    ),
    "durable.key_unexpected": (
        "ce journal n'a pas de clé, et la clé {key_id} est donnée ; relancez sans clé",
        "this journal has no key, and key {key_id} is given; run again without a key",
    ),
    "durable.lease_held": (
        "cette exécution est déjà pilotée par {holder} depuis {since} ; attendez sa fin ou arrêtez "
        "ce processus",
        "this run is already driven by {holder} since {since}; wait for its end or stop that process",
    ),
    "durable.no_lease": (
        "le stockage {store} n'a pas de bail : un seul pilote ne peut pas être garanti ; utilisez un "
        "autre stockage",
        "store {store} has no lease: a single driver cannot be guaranteed; use another store",
    ),
    "durable.not_settleable": (
        "l'action {action_id} est inconnue ou déjà tranchée ; voyez agentl durable status",
        "action {action_id} is unknown or already settled; see agentl durable status",
    ),
    "durable.steps_follow": (
        "{run_id} : {steps} pas suivent le protocole ({kinds})",
        "{run_id}: {steps} steps follow the protocol ({kinds})",
    ),
    "durable.steps_none": (
        "{file} : aucune action n'y est enregistrée, rien ne serait vérifié",
        "{file}: no action is on record there, nothing would be checked",
    ),
    "durable.steps_wrong": (
        "{file} : le pas {step} de l'action {action} n'est pas permis ici ; gardez ce journal et signalez-le",
        "{file}: the step {step} of action {action} is not allowed here; keep this journal and report it",
    ),
    "durable.steps_unreadable": (
        "{file} : la ligne {line} est illisible ; enregistrez les pas à nouveau",
        "{file}: line {line} cannot be read; record the steps again",
    ),
    "durable.steps_empty": (
        "{file} : aucun pas n'y est enregistré, rien ne serait vérifié ; enregistrez les pas à nouveau",
        "{file}: there is no step in it, nothing would be checked; record the steps again",
    ),
    "durable.steps_format": (
        "{file} : la ligne {line} annonce un autre format ; enregistrez les pas avec cette version",
        "{file}: line {line} announces another format; record the steps with this version",
    ),
    "durable.steps_cut": (
        "{file} : l'enregistrement est coupé à la ligne {line} ; enregistrez les pas jusqu'à la fin",
        "{file}: the log is cut at line {line}; record the steps to the end",
    ),
    "durable.steps_unknown": (
        "{file} : la ligne {line} n'est pas un pas connu ; enregistrez les pas avec cette version",
        "{file}: line {line} is no known step; record the steps with this version",
    ),
    "durable.run_id": (
        "identifiant d'exécution refusé : {run_id} (1 à {longest} caractères visibles, sans espace au bord)",
        "run id refused: {run_id} (1 to {longest} visible characters, no space at either end)",
    ),
    "durable.not_driving": (
        "cette exécution a été rendue : ouvrez-la à nouveau pour la reprendre",
        "this run was given back: open it again to resume it",
    ),
    "durable.society": (
        "une exécution durable à plusieurs agents ({agents}) n'est pas encore possible ; exécutez un "
        "agent à la fois",
        "a durable run of several agents ({agents}) is not possible yet; run one agent at a time",
    ),
    "durable.verdict_value": (
        "la valeur du verdict sur {action_id} ne peut pas être journalisée ; donnez du JSON",
        "the value of the verdict on {action_id} cannot be journalled; give JSON",
    ),
    # What is re-derived is not what is recorded (DRF-2).
    "durable.diverged": (
        "reprise impossible au franchissement #{entry} : le journal contient {recorded}, le "
        "programme demande "
        "{derived} ; reprenez avec le programme et l'hôte d'origine",
        "cannot resume at entry #{entry}: the journal holds {recorded}, the program asks for {derived}; "
        "resume with the original program and host",
    ),
    "durable.diverged_args": (
        "reprise impossible au franchissement #{entry} ({crossing}) : journalisé pour {recorded}, "
        "re-dérivé avec "
        "{derived} ; reprenez avec le programme et l'hôte d'origine",
        "cannot resume at entry #{entry} ({crossing}): journalled for {recorded}, re-derived with {derived}; "
        "resume with the original program and host",
    ),
    "durable.diverged_intent": (
        "reprise impossible au franchissement #{entry} : intention journalisée pour l'action "
        "{recorded}, re-dérivée "
        "pour {derived} ; reprenez avec le programme et l'hôte d'origine",
        "cannot resume at entry #{entry}: intention journalled for action {recorded}, re-derived for "
        "{derived}; "
        "resume with the original program and host",
    ),
    "durable.unreadable_value": (
        "reprise impossible au franchissement #{entry} : la valeur journalisée n'a pas de forme connue ; "
        "restaurez le journal d'origine",
        "cannot resume at entry #{entry}: the journalled value has no known form; restore the "
        "original journal",
    ),
    "durable.prefix_exhausted": (
        "reprise impossible : le journal s'arrête avant {crossing} ; restaurez le journal d'origine",
        "cannot resume: the journal ends before {crossing}; restore the original journal",
    ),
    "durable.prefix_write": (
        "reprise impossible au franchissement #{entry} : {crossing} serait écrit alors que le "
        "journal n'est pas "
        "entièrement re-dérivé ; reprenez avec le programme et l'hôte d'origine",
        "cannot resume at entry #{entry}: {crossing} would be written before the journal is re-derived; "
        "resume with the original program and host",
    ),
    "durable.checkpoint": (
        "reprise impossible au franchissement #{entry} : au tick {tick}, l'empreinte ({part}) "
        "re-dérivée n'est pas "
        "celle du point de contrôle ; quelque chose n'est pas déterministe dans le programme ou l'hôte",
        "cannot resume at entry #{entry}: at tick {tick} the re-derived digest ({part}) is not that of the "
        "checkpoint; something in the program or the host is not deterministic",
    ),
    "durable.incomplete": (
        "reprise incomplète : {count} entrée(s) du journal n'ont pas été re-dérivées ; "
        "reprenez avec le programme et l'hôte d'origine",
        "incomplete resume: {count} entries of the journal were not re-derived; "
        "resume with the original program and host",
    ),
    "durable.completed": (
        "cette exécution est terminée et ne peut plus rien demander : {crossing} ; "
        "prolongez-la avec une limite plus grande, ou commencez-en une autre",
        "this run is completed and can ask for nothing more: {crossing}; "
        "extend it with a larger limit, or start another",
    ),
    # The store failed (DRF-3).
    "durable.store_failed": (
        "le stockage de l'exécution a échoué ({operation}) : {cause} ; aucune action n'a été appelée depuis, "
        "relancez la même commande une fois la cause levée",
        "the store of the run failed ({operation}): {cause}; no action was called since, "
        "run the same command again once the cause is gone",
    ),
    "durable.lease_lost": (
        "cette exécution (bail {own}) est maintenant pilotée par {holder} ; ce processus s'arrête, "
        "voyez agentl durable status",
        "this run (lease {own}) is now driven by {holder}; this process stops, see agentl durable status",
    ),
    # PostgreSQL (STO-7 to STO-9).
    "durable.no_psycopg": (
        "les exécutions dans PostgreSQL demandent l'extra « postgres » ; installez agentl[postgres]",
        "runs in PostgreSQL need the extra “postgres”; install agentl[postgres]",
    ),
    "durable.bad_dsn": (
        "l'adresse PostgreSQL est illisible ; écrivez postgresql://utilisateur@serveur:port/base",
        "the PostgreSQL address cannot be read; write postgresql://user@server:port/database",
    ),
    "durable.schema_newer": (
        "les tables de cette base en sont à l'étape {found}, cette version d'AGENT-L s'arrête à "
        "l'étape {known} ; "
        "utilisez la version qui les a mises à jour",
        "the tables of this database are at step {found}, this version of AGENT-L ends at step {known}; "
        "use the version that brought them there",
    ),
}
