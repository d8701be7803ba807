"""Wordings of requests, parking and approvals (codes `park.`)."""

from __future__ import annotations

from typing import Final

TEXTS: Final[dict[str, tuple[str, str]]] = {
    "park.waiting": (
        "l'exécution attend une réponse ({kind}) pour {target} : {request_id}",
        "the run waits for an answer ({kind}) for {target}: {request_id}",
    ),
    "park.waits_approval": (
        "en attente d'un accord : {question} — {until}",
        "waiting for an approval: {question} — {until}",
    ),
    "park.waits_question": (
        "en attente d'une réponse de {question} — {until}",
        "waiting for an answer of {question} — {until}",
    ),
    "park.no_deadline": ("sans échéance", "no deadline"),
    "park.until": ("jusqu'à {deadline} (encore {left})", "until {deadline} ({left} left)"),
    "park.near": ("jusqu'à {deadline} : PLUS QUE {left}", "until {deadline}: ONLY {left} LEFT"),
    "park.over": ("échéance passée : {deadline} (depuis {left})", "deadline passed: {deadline} ({left} ago)"),
    "park.how_to_approve": (
        "répondez par : {command} (ou `deny`), puis relancez la même commande",
        "answer with: {command} (or `deny`), then run the same command again",
    ),
    "park.how_to_answer": (
        "répondez par : {command} RÉPONSE (ou `deny`), puis relancez la même commande",
        "answer with: {command} ANSWER (or `deny`), then run the same command again",
    ),
    "park.doubt": (
        "{action_id} : indéterminée, attend un verdict (agentl durable settle {address})",
        "{action_id}: in doubt, waits for a verdict (agentl durable settle {address})",
    ),
    "park.listed": ("{n} en attente", "{n} waiting"),
    "park.nothing_waits": ("rien n'attend dans {place}", "nothing waits in {place}"),
    "park.age": ("posée il y a {age}", "asked {age} ago"),
    "park.by_ring": ("signature du trousseau {ring} exigée", "must be signed by the ring {ring}"),
    "park.fact_run": ("exécution", "run"),
    "park.fact_where": ("où", "where"),
    "park.fact_request": ("demande", "request"),
    "park.fact_digest": ("empreinte", "digest"),
    "park.fact_reason": ("motif", "reason"),
    "park.fact_ring": ("trousseau", "key ring"),
    "park.fact_asked": ("date", "time"),
    "park.fact_deadline": ("échéance", "deadline"),
    "park.extension": (
        "repoussée par {by} le {at}, jusqu'à {deadline}",
        "put off by {by} at {at}, until {deadline}",
    ),
    "park.said_approved": ("approuvé par {by} le {at}", "approved by {by} at {at}"),
    "park.said_denied": ("refusé par {by} le {at}", "denied by {by} at {at}"),
    "park.said_answered": ("{value}, réponse de {by} le {at}", "{value}, answered by {by} at {at}"),
    "park.said_expired": ("expirée : constaté par {by} le {at}", "expired: found by {by} at {at}"),
    "park.said_withdrawn": (
        "retirée par l'exécution {by} le {at}, qui ne la pose plus",
        "withdrawn by the run {by} at {at}, which no longer asks",
    ),
    "park.decided_already": (
        "déjà décidé, la première décision vaut : {decision}",
        "decided already, and the first decision stands: {decision}",
    ),
    "park.not_extended": ("échéance inchangée : {reason}", "deadline unchanged: {reason}"),
    "park.unknown": (
        "aucune demande {request} dans {place} ; voyez `agentl approvals list`",
        "no request {request} in {place}; see `agentl approvals list`",
    ),
    "park.many": (
        "la demande {request} existe en plusieurs endroits ({places}) ; nommez-en un",
        "the request {request} is in several places ({places}); name one of them",
    ),
    "park.is_approval": (
        "{request} demande un accord : répondez par `approve` ou `deny`",
        "{request} asks for an approval: use `approve` or `deny`",
    ),
    "park.is_question": (
        "{request} est une question : répondez par `answer` ou `deny`",
        "{request} is a question: use `answer` or `deny`",
    ),
    "park.signed": ("(signé, clé {key_id})", "(signed, key {key_id})"),
    "park.digest_seen": (
        "c'est celle des arguments montrés",
        "that of the arguments shown",
    ),
    "park.digest_other": (
        "CE N'EST PAS celle des arguments montrés : la demande a été modifiée",
        "NOT that of the arguments shown: the request was tampered with",
    ),
    "park.digest_withheld": (
        "des arguments sont retenus, elle ne se vérifie pas ici",
        "arguments are withheld, it cannot be checked here",
    ),
    "park.digest_question": ("celle de la question", "that of the question"),
    "park.not_what_is_shown": (
        "les arguments montrés par {request} ne sont pas ceux de son empreinte : elle a été modifiée ; "
        "n'approuvez pas, et cherchez qui écrit dans ce magasin",
        "the arguments that {request} shows are not those of its digest: it was tampered with; do not "
        "approve, and find out who writes to this store",
    ),
    "park.withheld": (
        "{request} retient des arguments : ce que vous signeriez ne se vérifie pas ici ; ajoutez --unseen "
        "si vous le voulez quand même",
        "{request} withholds arguments: what you would sign cannot be checked here; add --unseen if you "
        "want to all the same",
    ),
    "park.must_sign": (
        "la politique exige pour {request} une signature du trousseau {ring} : ajoutez --key CLÉ",
        "the policy demands for {request} a signature of the ring {ring}: add --key KEY",
    ),
    "park.not_in_ring": (
        "le trousseau {ring} n'a pas la clé {key_id} pour {by} (il connaît : {known}) ; prenez l'une des "
        "siennes, et --by avec son nom",
        "the ring {ring} has no key {key_id} for {by} (it knows: {known}); use one of its keys, and --by "
        "with its name",
    ),
    "park.no_requests": (
        "un magasin {store} ne garde pas de demandes : retirez --park, ou utilisez un répertoire ou une base",
        "a {store} keeps no requests: leave --park out, or use a directory or a database",
    ),
    "park.unreadable": (
        "la demande {request} est illisible ou n'est pas celle attendue ; restaurez-la avant de reprendre",
        "the request {request} cannot be read, or is not the expected one; restore it before you resume",
    ),
}
