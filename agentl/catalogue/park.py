"""Wordings of requests, parking and approvals (codes `park.`)."""

from __future__ import annotations

from typing import Final

TEXTS: Final[dict[str, tuple[str, str]]] = {
    "park.waiting": (
        "l'exécution attend une réponse ({kind}) pour {target} : {request_id}",
        "the run waits for an answer ({kind}) for {target}: {request_id}",
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
