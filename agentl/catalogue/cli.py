"""Wordings of the command line (codes `cli.`)."""

from __future__ import annotations

from typing import Final

TEXTS: Final[dict[str, tuple[str, str]]] = {
    # --- reading and refusing (CLI-1, CLI-2) ---
    "cli.unreadable": (
        "impossible de lire {file} : {cause} ; vérifiez le chemin et les droits",
        "cannot read {file}: {cause}; check the path and the permissions",
    ),
    "cli.unwritable": (
        "impossible d'écrire {file} : {cause} ; choisissez un autre chemin",
        "cannot write {file}: {cause}; choose another path",
    ),
    "cli.language": (
        "langue inconnue {given} ; choisissez parmi {known}",
        "unknown language {given}; choose one of {known}",
    ),
    "cli.usage.missing": (
        "il manque {name}. Voir `{command} --help`",
        "{name} is missing. See `{command} --help`",
    ),
    "cli.usage.option": (
        "l'option {name} n'existe pas. Voir `{command} --help`",
        "there is no option {name}. See `{command} --help`",
    ),
    "cli.usage.option_near": (
        "l'option {name} n'existe pas ; voulez-vous dire {near} ? Voir `{command} --help`",
        "there is no option {name}; do you mean {near}? See `{command} --help`",
    ),
    "cli.usage.argument": (
        "l'option {name} veut une valeur. Voir `{command} --help`",
        "the option {name} wants a value. See `{command} --help`",
    ),
    "cli.usage.flag": (
        "l'option {name} ne prend pas de valeur. Voir `{command} --help`",
        "the option {name} takes no value. See `{command} --help`",
    ),
    "cli.usage.integer": (
        "{name} veut un nombre entier. Voir `{command} --help`",
        "{name} wants a whole number. See `{command} --help`",
    ),
    "cli.usage.value": (
        "la valeur de {name} n'est pas acceptée : {problem}. Voir `{command} --help`",
        "the value of {name} is not accepted: {problem}. See `{command} --help`",
    ),
    "cli.usage.command": (
        "la commande {name} n'existe pas. Voir `{command} --help`",
        "there is no command {name}. See `{command} --help`",
    ),
    "cli.usage.command_near": (
        "la commande {name} n'existe pas ; voulez-vous dire {near} ? Voir `{command} --help`",
        "there is no command {name}; do you mean {near}? See `{command} --help`",
    ),
    "cli.usage.extra": (
        "en trop sur la ligne de commande : {words}. Voir `{command} --help`",
        "too much on the command line: {words}. See `{command} --help`",
    ),
    "cli.usage": (
        "{problem}. Voir `{command} --help`",
        "{problem}. See `{command} --help`",
    ),
    "cli.interrupted": ("interrompu", "interrupted"),
    "cli.unexpected": (
        "erreur inattendue, {type} : {error} ; relancez avec AGENTL_DEBUG=1 pour en voir l'origine",
        "unexpected error, {type}: {error}; run again with AGENTL_DEBUG=1 to see where it comes from",
    ),
    "cli.too_deep": (
        "le programme imbrique trop de niveaux pour être traité ; réduisez l'imbrication",
        "the program nests too deeply to be handled; reduce the nesting",
    ),
    "cli.no_host": (
        "{program} n'a pas d'hôte : il faut {host}, avec une fonction build() qui rend l'hôte",
        "{program} has no host: {host} is wanted, with a function build() that returns the host",
    ),
    "cli.host_failed": (
        "l'hôte {file}, ligne {line}, a échoué : {error} ; corrigez-le et relancez",
        "the host {file}, line {line}, failed: {error}; correct it and run again",
    ),
    "cli.host_failed_somewhere": (
        "l'hôte {file} a échoué : {error} ; corrigez-le et relancez",
        "the host {file} failed: {error}; correct it and run again",
    ),
    "cli.model_shape": (
        "le modèle que rend l'hôte {file} doit être un LLM ou None, et non {given}",
        "the model that the host {file} gives must be an LLM or None, not {given}",
    ),
    "cli.host_async": (
        "dans l'hôte {file}, {name} est une fonction async : cette version n'appelle que des fonctions "
        "ordinaires ; retirez async, ou attendez le résultat dedans avec asyncio.run",
        "in the host {file}, {name} is an async function: this version calls ordinary functions; "
        "remove async, or wait for the result inside with asyncio.run",
    ),
    "cli.agents_without_host": (
        "{file} ne donne pas d'hôte à : {names} ; ajoutez-les à ce que rend build()",
        "{file} gives no host to: {names}; add them to what build() returns",
    ),
    "cli.missing_tools": (
        "l'hôte n'offre pas ces outils du programme, leurs appels échoueront : {names}",
        "the host does not offer these tools of the program, calls to them will fail: {names}",
    ),
    "cli.missing_sensors": (
        "l'hôte n'a pas de capteur pour ces chemins observés, ils resteront inconnus : {names}",
        "the host has no sensor for these observed paths, they will stay unknown: {names}",
    ),
    "cli.missing_model": (
        "le programme interroge un modèle et l'hôte n'en donne pas : build() peut rendre (hôte, modèle)",
        "the program asks a model and the host gives none: build() may return (host, model)",
    ),
    "cli.host_without_build": (
        "l'hôte {file} n'a ni fonction build() ni variable host ; ajoutez build() qui rend l'hôte",
        "the host {file} has neither build() nor a variable host; add a build() that returns the host",
    ),
    "cli.host_shape": (
        "l'hôte {file} doit rendre hôte, (hôte, modèle) ou (hôte, modèle, suppléments), et non {given}",
        "the host {file} must give a host, (host, model) or (host, model, extras), not {given}",
    ),
    "cli.unknown_hosts": (
        "{file} donne des hôtes à des agents qui ne sont pas dans le programme : {names}",
        "{file} gives hosts to agents that are not in the program: {names}",
    ),
    # --- check (CLI-3) ---
    "cli.counts": (
        "{tools} outil(s), {plans} plan(s), {rules} règle(s)",
        "{tools} tool(s), {plans} plan(s), {rules} rule(s)",
    ),
    "cli.no_diagnostic": ("aucun diagnostic", "no diagnostic"),
    "cli.program": ("PROGRAMME — {n} agents", "PROGRAM — {n} agents"),
    "cli.contracts": ("contrats entre agents cohérents", "contracts between the agents are consistent"),
    # --- run (CLI-5) ---
    "cli.run_refused": (
        "exécution refusée : {errors} erreur(s) ; corrigez-les (`agentl check` les montre)",
        "run refused: {errors} error(s); correct them (`agentl check` shows them)",
    ),
    "cli.society": (
        "{file} déclare {n} agents : cette version exécute un seul agent par programme ; "
        "mettez chacun dans son fichier",
        "{file} declares {n} agents: this version runs one agent per program; "
        "put each into a file of its own",
    ),
    "cli.durable_record": (
        "--durable et --record s'excluent : un journal durable s'exporte avec `agentl durable export`",
        "--durable and --record exclude each other: export a durable journal with `agentl durable export`",
    ),
    "cli.needs_durable": (
        "{option} ne vaut qu'avec --durable DIR",
        "{option} is only for a run with --durable DIR",
    ),
    "cli.key_ring": (
        "trousseau illisible : {given} ; écrivez TROUSSEAU:PERSONNE=CLÉ.pub",
        "no key ring: {given}; write RING:PERSON=KEY.pub",
    ),
    "cli.needs_park": (
        "{option} ne vaut qu'avec --park",
        "{option} is only for a run with --park",
    ),
    "cli.duration": (
        "durée illisible : {given} ; écrivez par exemple 90s, 15m, 8h ou 3d",
        "no duration: {given}; write for example 90s, 15m, 8h or 3d",
    ),
    "cli.needs_record": (
        "{option} ne vaut qu'avec --record F",
        "{option} is only for a run with --record F",
    ),
    "cli.recorded": (
        "journal enregistré : {file} ({crossings} franchissement(s))",
        "journal recorded: {file} ({crossings} crossing(s))",
    ),
    "cli.not_signed": (
        "non signé : l'altération se voit, l'auteur non (--sign-key)",
        "not signed: alteration shows, the author does not (--sign-key)",
    ),
    "cli.sealed": ("scellé : {algorithm}, clé {key_id}", "sealed: {algorithm}, key {key_id}"),
    "cli.lossy": (
        "journal avec pertes, ces valeurs ne se rejouent pas : {places}",
        "lossy journal, these values do not replay: {places}",
    ),
    "cli.progress": ("tick {tick}", "tick {tick}"),
    "cli.events_lost": (
        "le fichier d'événements {file} est incomplet ({cause}) ; l'exécution n'en dépend pas",
        "the file of events {file} is incomplete ({cause}); the run does not depend on it",
    ),
    # --- why the system refuses a file ---
    "cli.cause.ENOENT": ("ce fichier ou ce répertoire n'existe pas", "no such file or directory"),
    "cli.cause.EISDIR": ("c'est un répertoire", "it is a directory"),
    "cli.cause.ENOTDIR": ("un fichier n'est pas un répertoire", "a file is no directory"),
    "cli.cause.EEXIST": ("un fichier de ce nom existe", "a file of that name exists"),
    "cli.cause.EACCES": ("accès refusé", "access denied"),
    "cli.cause.EPERM": ("opération non permise", "operation not permitted"),
    "cli.cause.EROFS": ("le support est en lecture seule", "the file system is read-only"),
    "cli.cause.ENOSPC": ("il n'y a plus de place", "no space is left"),
    "cli.cause.ELOOP": ("des liens symboliques tournent en rond", "symbolic links go round in a circle"),
    "cli.cause.ENAMETOOLONG": ("le nom est trop long", "the name is too long"),
    # --- settle (CLI-15) ---
    "cli.verdict_form": (
        "la valeur du verdict a un champ que le journal ne connaît pas, {place} ; "
        'un symbole s\'écrit {{"$sym": "yes"}}',
        "the value of the verdict has a field that the journal does not know, {place}; "
        'a symbol is written {{"$sym": "yes"}}',
    ),
    "cli.answer_choice": (
        "donnez exactement une réponse : un texte, ou --value JSON",
        "give exactly one answer: a text, or --value JSON",
    ),
    "cli.verdict_choice": (
        "donnez exactement un verdict : --executed [JSON] ou --not-executed",
        "give exactly one verdict: --executed [JSON] or --not-executed",
    ),
    "cli.verdict_value": (
        "la valeur du verdict n'est pas du JSON : {error}",
        "the value of the verdict is no JSON: {error}",
    ),
    # --- seal (CLI-14) ---
    "cli.seal_what": (
        "donnez un journal à vérifier, ou --keygen DIR pour créer une clé",
        "give a journal to verify, or --keygen DIR to make a key",
    ),
    "cli.keys_written": (
        "clé privée {private} (à garder secrète), clé publique {public}",
        "private key {private} (keep it secret), public key {public}",
    ),
    "cli.no_source": (
        "le programme {source} du journal est introuvable ; indiquez-le avec --source F",
        "the program {source} of the journal is not there; name it with --source F",
    ),
    # --- help ---
    "cli.library.usage": ("Emploi :", "Usage:"),
    "cli.library.arguments": ("Arguments :", "Arguments:"),
    "cli.library.options": ("Options :", "Options:"),
    "cli.library.commands": ("Commandes :", "Commands:"),
    "cli.library.required": ("[obligatoire]", "[required]"),
    "cli.library.help": ("Afficher cette aide.", "Show this message and exit."),
    "cli.help.durable_cancel": (
        "Arrête une exécution pour de bon, et dit ce qu'elle a déjà fait.",
        "Stop a run for good, and say what it has done.",
    ),
    "cli.help.cancel_reason": ("Pourquoi, pour le journal.", "Why, for the record."),
    "cli.help.task": (
        "L'état d'une tâche, déduit du journal de son exécution.",
        "The state of a task, derived from the journal of its run.",
    ),
    "cli.help.task_show": (
        "Ce qui est demandé, prouvé, ouvert, en doute et dépensé.",
        "What is asked, proven, open, in doubt and spent.",
    ),
    "cli.help.task_schema": (
        "Le schéma JSON de ce qu'affiche `task show --json`.",
        "The JSON Schema of what `task show --json` prints.",
    ),
    "cli.help.task_program": (
        "Le programme de l'exécution (défaut : celui qu'elle a noté).",
        "The program of the run (default: the one that it noted).",
    ),
    "cli.help.agentl": (
        "AGENT-L : des agents gouvernés par un noyau, qui survivent aux pannes.",
        "AGENT-L: agents governed by a kernel, which survive crashes.",
    ),
    "cli.help.run": (
        "Exécuter un programme ; avec --durable, le démarrer ou le reprendre.",
        "Run a program; with --durable, start it or resume it.",
    ),
    "cli.help.check": ("Dire ce qui ne va pas dans un programme.", "Report what is wrong with a program."),
    "cli.help.ast": ("Afficher l'arbre syntaxique d'un programme.", "Print the syntax tree of a program."),
    "cli.help.replay": (
        "Rejouer un journal et comparer les traces.",
        "Replay a journal and compare the traces.",
    ),
    "cli.help.seal": (
        "Vérifier la chaîne et le sceau d'un journal, ou créer une clé.",
        "Verify the chain and the seal of a journal, or make a key.",
    ),
    "cli.help.durable": ("Les exécutions durables.", "Durable runs."),
    "cli.help.approvals": (
        "Ce qui attend une personne, et les réponses.",
        "What waits for a person, and the answers.",
    ),
    "cli.help.approvals_list": (
        "Tout ce qui attend, sur toutes les exécutions ; code 6 si quelque chose attend, 0 sinon.",
        "Everything that waits, over all runs; exit code 6 if anything does, else 0.",
    ),
    "cli.help.approvals_show": ("Une demande en entier.", "One request in full."),
    "cli.help.approvals_approve": ("Donner l'accord.", "Say yes to an action."),
    "cli.help.approvals_deny": ("Refuser.", "Say no."),
    "cli.help.approvals_answer": ("Répondre à une question.", "Answer a question."),
    "cli.help.approvals_extend": ("Repousser une échéance.", "Put a deadline off."),
    "cli.help.approvals_all": ("Montrer aussi ce qui est décidé.", "Show what is decided as well."),
    "cli.help.request": ("Identifiant de la demande, en entier.", "Id of the request, whole."),
    "cli.help.approval_key": (
        "Signer avec cette clé privée Ed25519 (PEM).",
        "Sign with this private Ed25519 key (PEM).",
    ),
    "cli.help.unseen": (
        "Signer bien que des arguments soient retenus.",
        "Sign although arguments are withheld.",
    ),
    "cli.help.key_ring": (
        "Pour un rejeu : TROUSSEAU:PERSONNE=CLÉ.pub ; répétable.",
        "For a replay: RING:PERSON=KEY.pub; may be repeated.",
    ),
    "cli.help.answer_text": ("La réponse, un texte.", "The answer, a text."),
    "cli.help.answer_value": (
        'La réponse en JSON : un nombre, true, {{"$sym": "yes"}} …',
        'The answer as JSON: a number, true, {{"$sym": "yes"}} …',
    ),
    "cli.help.extend_by": ("De combien, par exemple 15m, 8h ou 3d.", "By how much, as 15m, 8h or 3d."),
    "cli.help.durable_list": ("Lister toutes les exécutions.", "List all runs."),
    "cli.help.durable_status": (
        "Montrer l'état d'une exécution sans la reprendre.",
        "Show the state of a run without resuming it.",
    ),
    "cli.help.durable_export": (
        "Exporter une exécution terminée en journal de rejeu.",
        "Export a completed run as a replay journal.",
    ),
    "cli.help.durable_validate": (
        "Vérifier que le journal d'une exécution suit le protocole du noyau.",
        "Check that the journal of a run follows the kernel's protocol.",
    ),
    "cli.help.durable_settle": (
        "Trancher une action en suspens ou indéterminée.",
        "Settle a pending or doubtful action.",
    ),
    "cli.help.lang": ("Langue des messages.", "Language of the messages."),
    "cli.help.version": ("Afficher la version.", "Show the version."),
    "cli.help.json": (
        "Rendre le rapport en JSON sur la sortie standard.",
        "Give the report as JSON on stdout.",
    ),
    "cli.help.program": ("Le programme .agent.", "The .agent program."),
    "cli.help.durable_show": (
        "Raconter une exécution, du début à la fin.",
        "Tell a run from beginning to end.",
    ),
    "cli.help.durable_verify": (
        "Vérifier chaîne, clé, bail, notes et fin d'une exécution, ou de toutes.",
        "Verify chain, key, lease, notes and end of a run, or of all.",
    ),
    "cli.help.durable_purge": (
        "Jeter les exécutions terminées depuis longtemps ; leurs empreintes restent.",
        "Throw away runs that ended long ago; their digests stay.",
    ),
    "cli.help.durable_import": (
        "Déplacer une exécution dans un autre stockage, ou l'y copier pour lecture.",
        "Move a run to another store, or copy it there for reading.",
    ),
    "cli.help.older_than": (
        "Terminées depuis plus que cela : 30d, 12h, 90min, 0s.",
        "That ended longer ago than this: 30d, 12h, 90min, 0s.",
    ),
    "cli.help.with_doubts": (
        "Aussi celles dont une action reste indéterminée.",
        "Also those with an action that is still in doubt.",
    ),
    "cli.help.dry_run": ("Dire seulement ce qui serait jeté.", "Only say what would be thrown away."),
    "cli.help.import_from": (
        "L'exécution : son adresse, ou un fichier portable.",
        "The run: its address, or a portable file.",
    ),
    "cli.help.import_to": (
        "Où : un répertoire d'exécutions, sqlite:FICHIER ou postgres://SERVEUR/BASE.",
        "Where: a directory of runs, sqlite:FILE or postgres://SERVER/DATABASE.",
    ),
    "cli.help.import_copy": (
        "Copier pour lecture seule : la copie n'est jamais pilotée.",
        "Copy for reading only: the copy is never driven.",
    ),
    "cli.help.portable": (
        "Un fichier de toute l'exécution, terminée ou non, pour durable import --copy.",
        "A file of the whole run, ended or not, for durable import --copy.",
    ),
    "cli.help.submit": (
        "Mettre une exécution en file pour un travailleur.",
        "Put a run into the queue for a worker.",
    ),
    "cli.help.worker": (
        "Piloter les exécutions en file, jusqu'à SIGTERM.",
        "Drive the runs of a queue, until SIGTERM.",
    ),
    "cli.help.store": (
        "Où : un répertoire d'exécutions, sqlite:FICHIER ou postgres://SERVEUR/BASE.",
        "Where: a directory of runs, sqlite:FILE or postgres://SERVER/DATABASE.",
    ),
    "cli.help.program_dir": (
        "Répertoire des programmes et de leurs hôtes (sinon : le répertoire courant).",
        "Directory of the programs and their hosts (else: the current one).",
    ),
    "cli.help.concurrency": ("Combien d'exécutions à la fois.", "How many runs at a time."),
    "cli.help.once": ("Prendre ce qui est dû maintenant, puis finir.", "Take what is due now, then end."),
    "cli.help.drain": ("Finir quand plus rien n'est dû.", "End when nothing is due any more."),
    "cli.help.poll": (
        "Secondes entre deux regards sans y être invité.",
        "Seconds between two looks without being told.",
    ),
    "cli.help.list_check": (
        "Relire tous les journaux, ou aucun (sinon : s'ils sont courts).",
        "Read every journal, or none (else: when they are short).",
    ),
    "cli.help.list_state": (
        "Seulement dans cet état (répétable, ou séparés par des virgules).",
        "Only in this state (may be repeated, or divided by commas).",
    ),
    "cli.help.place": (
        "Où : un répertoire, sqlite:FICHIER[#ID] ou postgres://SERVEUR/BASE[#ID].",
        "Where: a directory, sqlite:FILE[#RUN] or postgres://SERVER/DATABASE[#RUN].",
    ),
    "cli.help.journal": ("Le journal.", "The journal."),
    "cli.help.key": (
        "Clé du journal (sinon AGENTL_JOURNAL_KEY).",
        "Key of the journal (else AGENTL_JOURNAL_KEY).",
    ),
    "cli.help.ticks": ("Nombre maximal de ticks.", "Greatest number of ticks."),
    "cli.help.quiet": ("Ne montrer la trace qu'à la fin.", "Show the trace at the end only."),
    "cli.help.events": (
        "Écrire chaque événement de la trace en JSON, une ligne chacun.",
        "Write every trace event as JSON, one line each.",
    ),
    "cli.help.record": ("Enregistrer un journal de rejeu.", "Record a replay journal."),
    "cli.help.sign_key": ("Clé de signature du journal enregistré.", "Key that signs the recorded journal."),
    "cli.help.durable_dir": (
        "Où garder l'exécution : un répertoire, sqlite:FICHIER[#ID] ou postgres://SERVEUR/BASE[#ID].",
        "Where to keep the run: a directory, sqlite:FILE[#RUN] or postgres://SERVER/DATABASE[#RUN].",
    ),
    "cli.help.run_id": ("Identifiant de l'exécution.", "Id of the run."),
    "cli.help.trace_all": (
        "À la reprise, montrer aussi les ticks re-dérivés.",
        "On a resume, show the re-derived ticks too.",
    ),
    "cli.help.park": (
        "Si une personne doit répondre : garder la question et s'arrêter (code 6) ; "
        "répondre avec `agentl approvals`.",
        "Where a person must answer: keep the question and end (code 6); answer with `agentl approvals`.",
    ),
    "cli.help.answer_within": (
        "Délai de réponse, par exemple 15m, 8h ou 3d ; sans lui, la question attend toujours.",
        "Time to answer, as 15m, 8h or 3d; without it the question waits for ever.",
    ),
    "cli.help.output": ("Fichier à écrire.", "File to write."),
    "cli.help.action_id": ("L'identifiant de l'action.", "The id of the action."),
    "cli.help.executed": (
        "L'action a eu lieu ; sa valeur en JSON peut suivre.",
        "The action took place; its value in JSON may follow.",
    ),
    "cli.help.not_executed": ("L'action n'a pas eu lieu.", "The action did not take place."),
    "cli.help.by": ("Qui tranche.", "Who settles it."),
    "cli.help.source": (
        "Le programme, s'il n'est plus où il était.",
        "The program, if it is not where it was.",
    ),
    "cli.help.force": ("Rejouer même si le programme a changé.", "Replay even if the program has changed."),
    "cli.help.require_seal": ("Refuser un journal non signé.", "Refuse a journal that is not signed."),
    "cli.help.keygen": ("Créer une paire de clés dans ce répertoire.", "Make a key pair in this directory."),
    "cli.help.name": ("Nom de la paire de clés.", "Name of the key pair."),
}
