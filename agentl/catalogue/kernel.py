"""Wordings of the trusted base (`kernel.` `pol.` `apr.` `permit.` `host.` `prov.` `tri.`)."""

from __future__ import annotations

from typing import Final

TEXTS: Final[dict[str, tuple[str, str]]] = {
    "kernel.data_model": (
        "valeur hors du modèle de données à l'endroit {place} : {type} ; "
        "donnez des valeurs simples (texte, nombre, symbole, liste, dictionnaire…)",
        "value outside the data model at {place}: {type}; give plain values (text, number, "
        "symbol, list, mapping…)",
    ),
    "kernel.undeclared": (
        "`{name}` n'est pas déclaré ; déclarez-le par TOOL avant de l'appeler",
        "`{name}` is not declared; declare it with TOOL before calling it",
    ),
    "kernel.input_missing": (
        "paramètre `{parameter}` ({type}) absent ; donnez-le dans l'appel",
        "parameter `{parameter}` ({type}) is missing; give it in the call",
    ),
    "kernel.input_type": (
        "paramètre `{parameter}` : {type} attendu, {received} reçu ; corrigez l'argument",
        "parameter `{parameter}`: {type} wanted, {received} received; correct the argument",
    ),
    "kernel.input_finite": (
        "paramètre `{parameter}` ({type}) : {value} n'est pas un nombre fini ; corrigez l'argument",
        "parameter `{parameter}` ({type}): {value} is not a finite number; correct the argument",
    ),
    "kernel.input_unknown": (
        "arguments non déclarés : {keys} ; retirez-les ou déclarez-les dans INPUT",
        "arguments that are not declared: {keys}; remove them or declare them in INPUT",
    ),
    "kernel.argument_twice": (
        "paramètre `{parameter}` donné deux fois ; ne gardez qu'une valeur",
        "parameter `{parameter}` is given twice; keep one value",
    ),
    "kernel.isolation": (
        "la proposition ne peut pas être figée ({type} : {message}) ; elle est refusée",
        "the proposal cannot be frozen ({type}: {message}); it is refused",
    ),
    "kernel.policy_error": (
        "la politique a échoué sur `{target}` ({type} : {message}) ; l'action est refusée",
        "the policy failed on `{target}` ({type}: {message}); the action is refused",
    ),
    "kernel.hook_error": (
        "l'observateur `{hook}` a échoué ({type} : {message}) ; l'action est refusée",
        "the observer `{hook}` failed ({type}: {message}); the action is refused",
    ),
    "kernel.not_executed": (
        "l'action {action_id} (`{target}`) n'a pas eu lieu ; elle peut être proposée de nouveau",
        "action {action_id} (`{target}`) did not take place; it can be proposed again",
    ),
    "kernel.decision": (
        "une décision ne se fabrique pas hors du noyau ; passez par Control.decide",
        "a decision is not made outside the kernel; use Control.decide",
    ),
    "apr.no_approver": (
        "`{target}` demande une approbation et personne n'est là pour la donner ; déclarez un "
        "approbateur sur l'hôte",
        "`{target}` needs an approval and nobody is there to give it; declare an approver on the host",
    ),
    "apr.denied": (
        "approbation refusée par {by} : `{target}` ne s'exécute pas",
        "approval denied by {by}: `{target}` does not run",
    ),
    "apr.expired": (
        "aucune réponse à temps : `{target}` ne s'exécute pas ; demandez de nouveau",
        "no answer in time: `{target}` does not run; ask again",
    ),
    "apr.mismatch": (
        "l'approbation donnée par {by} porte sur une autre action : `{target}` ne s'exécute pas",
        "the approval given by {by} is for another action: `{target}` does not run",
    ),
    "apr.failed": (
        "l'approbateur a échoué ({type} : {message}) : `{target}` ne s'exécute pas",
        "the approver failed ({type}: {message}): `{target}` does not run",
    ),
    "apr.no_ring": (
        "le trousseau `{name}` n'est pas déclaré ; déclarez-le par host.key_ring, ou pour un rejeu "
        "par --key-ring",
        "the key ring `{name}` is not declared; declare it on the host with host.key_ring, or for a replay "
        "with --key-ring",
    ),
    "apr.not_signed": (
        "l'approbation de {by} n'est pas signée par une clé que le trousseau `{name}` a pour lui : "
        "`{target}` ne s'exécute pas",
        "the approval of {by} is not signed by a key that the ring `{name}` has for them: `{target}` does "
        "not run",
    ),
    "apr.bad_ring": (
        "la clé de {holder} dans le trousseau `{name}` n'est pas une clé publique Ed25519 ; "
        "corrigez host.key_ring",
        "the key of {holder} in the ring `{name}` is no public Ed25519 key; correct host.key_ring",
    ),
    "apr.key_file": (
        "la clé {file} du trousseau `{name}` est illisible ({error}) ; corrigez host.key_ring",
        "the key {file} of the ring `{name}` cannot be read ({error}); correct host.key_ring",
    ),
    "apr.key_kind": (
        "un accord se signe avec une clé privée Ed25519 (`agentl seal --keygen`), pas avec {algorithm}",
        "an approval is signed with a private Ed25519 key (`agentl seal --keygen`), not with {algorithm}",
    ),
    "permit.missing": (
        "{kind} `{target}` sans permis d'exécution : seul le noyau AGENT-L appelle l'hôte (Kernel.execute)",
        "{kind} `{target}` without an execution permit: only the AGENT-L kernel calls the host "
        "(Kernel.execute)",
    ),
    "permit.forged": (
        "un permis ne se fabrique pas hors du noyau ; demandez-le à Kernel.authorize",
        "a permit is not made outside the kernel; ask Kernel.authorize for one",
    ),
    "permit.immutable": (
        "un permis ne se modifie pas (`{field}`) ; proposez une autre action",
        "a permit cannot be changed (`{field}`); propose another action",
    ),
    "permit.serialised": (
        "un permis ne se sérialise pas : il ne vaut que dans son processus ; proposez l'action de nouveau",
        "a permit cannot be serialised: it holds only in its process; propose the action again",
    ),
    "permit.unknown": (
        "permis pour `{target}` inconnu de ce noyau : forgé, d'un autre noyau, déjà utilisé ou révoqué ; "
        "demandez-en un à Kernel.authorize",
        "permit for `{target}` unknown to this kernel: forged, of another kernel, used or revoked; "
        "ask Kernel.authorize for one",
    ),
    "permit.presented": (
        "{kind} `{target}` : permis déjà présenté ; une exécution n'appelle l'hôte qu'une fois",
        "{kind} `{target}`: permit presented already; one execution calls the host once",
    ),
    "permit.nested": (
        "{kind} `{target}` est en cours et journalisée : aucune autre action ne peut être demandée "
        "avant son résultat ; appelez l'autre outil depuis le programme",
        "{kind} `{target}` is under way and on record: no other action can be asked for before its "
        "result; call the other tool from the program",
    ),
    "permit.other": (
        "{kind} `{target}` : le permis a été émis pour {permit_kind} `{permit_target}` ; "
        "demandez-en un pour cette action",
        "{kind} `{target}`: the permit was issued for {permit_kind} `{permit_target}`; ask for "
        "one for this action",
    ),
    "permit.arguments": (
        "{kind} `{target}` : les arguments diffèrent de ceux qui ont été jugés ; proposez "
        "l'action de nouveau",
        "{kind} `{target}`: the arguments differ from those that were judged; propose the action again",
    ),
    "permit.activated": (
        "seule une exécution émise par le noyau peut être activée de nouveau ; prenez-la de "
        "active_dispatch()",
        "only an execution issued by the kernel can be activated again; take it from active_dispatch()",
    ),
    "permit.step": (
        "étape `{step}` refusée à l'état `{stage}` : l'action ne suit pas le protocole du noyau",
        "step `{step}` refused in state `{stage}`: the action does not follow the kernel's protocol",
    ),
    "host.name": (
        "`{name}` n'est pas un identificateur (forme NFKC) ; choisissez un autre nom",
        "`{name}` is no identifier (NFKC form); choose another name",
    ),
    "host.retry": (
        "Retry : valeur {value} refusée pour `{field}` ; donnez un nombre fini, positif ou nul, "
        "et au moins un appel",
        "Retry: value {value} refused for `{field}`; give a finite number, not negative, and at "
        "least one call",
    ),
    "host.tool_missing": (
        "l'hôte n'a pas d'outil `{name}` ; enregistrez-le avec host.tool",
        "the host has no tool `{name}`; register it with host.tool",
    ),
    "host.subagent_missing": (
        "l'hôte n'a pas de sous-agent `{name}` ; enregistrez-le avec host.subagent",
        "the host has no sub-agent `{name}`; register it with host.subagent",
    ),
    "host.signature": (
        "les arguments ne vont pas à la fonction de `{name}` : {parameters} ; accordez INPUT et la fonction",
        "the arguments do not fit the function of `{name}`: {parameters}; make INPUT and the function agree",
    ),
    "host.reconciler_missing": (
        "l'hôte n'a pas de réconciliateur pour `{name}` ; enregistrez-le avec host.reconciler",
        "the host has no reconciler for `{name}`; register it with host.reconciler",
    ),
    "kernel.encoding": (
        "forme de journal illisible à l'endroit {place} ({type}) ; le journal a été écrit ou modifié par "
        "autre chose que ce programme : ne le reprenez pas",
        "unreadable journal form at {place} ({type}); the journal was written or changed by something "
        "else than this program: do not resume it",
    ),
    "pol.never": (
        "interdit par NEVER {target} (ligne {line})",
        "forbidden by NEVER {target} (line {line})",
    ),
    "pol.deny": (
        "refusé par DENY {target} (ligne {line})",
        "refused by DENY {target} (line {line})",
    ),
    "pol.no_allow": (
        "aucune règle ALLOW n'est vraie pour {name}",
        "no ALLOW rule is true for {name}",
    ),
    "pol.default_deny": (
        "aucune règle ALLOW ne vise {name} et le défaut est DENY",
        "no ALLOW rule targets {name} and the default is DENY",
    ),
    "pol.approval": (
        "approbation requise (ligne {line})",
        "approval required (line {line})",
    ),
    "pol.allowed": ("autorisé par la politique", "allowed by the policy"),
    "tri.true": ("vrai", "true"),
    "tri.false": ("faux", "false"),
    "tri.unknown": ("inconnu", "unknown"),
    "prov.source": (
        "`{source}` n'est pas une source de provenance ; voyez les constantes de agentl.kernel.provenance",
        "`{source}` is not a source of provenance; use one of the constants of agentl.kernel.provenance",
    ),
}
