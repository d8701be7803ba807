"""Wordings of the receiver (codes `receiver.`)."""

from __future__ import annotations

from typing import Final

TEXTS: Final[dict[str, tuple[str, str]]] = {
    "receiver.bad_key": (
        "clé d'idempotence refusée : il faut de 1 à 255 caractères ASCII visibles ; envoyez une autre clé",
        "idempotency key refused: it takes 1 to 255 visible ASCII characters; send another key",
    ),
    "receiver.no_key": (
        "cette demande change quelque chose et porte l'en-tête Idempotency-Key ou n'est pas exécutée ; "
        "ajoutez une clé, la même à chaque tentative",
        "this request changes something and carries the header Idempotency-Key or is not executed; "
        "add a key, the same at each attempt",
    ),
    "receiver.mismatch": (
        "la clé {key} a déjà servi pour une autre demande (différence : {fields}) ; rien n'a été fait, "
        "utilisez une nouvelle clé pour une nouvelle action",
        "the key {key} was used for another request (what differs: {fields}); nothing was done, "
        "use a new key for a new action",
    ),
    "receiver.busy": (
        "une demande de clé {key} est en cours depuis plus de {seconds} s ; rien n'a été fait, "
        "réessayez avec la même clé",
        "a request with the key {key} has been under way for more than {seconds} s; nothing was done, "
        "try again with the same key",
    ),
    "receiver.gone": (
        "la clé {key} a servi il y a longtemps et sa réponse n'est plus conservée ; rien n'a été fait, "
        "vérifiez l'état avant d'utiliser une nouvelle clé",
        "the key {key} was used long ago and its answer is no longer kept; nothing was done, "
        "look at the state before you use a new key",
    ),
    "receiver.answered": (
        "la demande de clé {key} a déjà reçu sa réponse : rien ne peut plus être changé ; "
        "consultez `fresh` et rendez `answer`",
        "the request with the key {key} was answered before: nothing can be changed any more; "
        "look at `fresh` and give back `answer`",
    ),
    "receiver.ended_inside": (
        "la transaction de la clé {key} ne se termine pas depuis le bloc ; "
        "laissez le bloc finir, ou levez une exception pour tout annuler",
        "the transaction of the key {key} is not ended from inside the block; "
        "let the block end, or raise to take everything back",
    ),
    "receiver.answer_form": (
        "la réponse n'est pas une valeur JSON ({cause}) ; rien n'a été fait",
        "the answer is no JSON value ({cause}); nothing was done",
    ),
    "receiver.params_form": (
        "les paramètres ne sont pas une valeur JSON ({cause}) ; rien n'a été fait",
        "the parameters are no JSON value ({cause}); nothing was done",
    ),
    "receiver.too_large": (
        "le corps dépasse {limit} octets ; rien n'a été fait",
        "the body is longer than {limit} bytes; nothing was done",
    ),
    "receiver.answer_too_large": (
        "la réponse dépasse {limit} octets et ne peut être conservée ; rien n'a été fait",
        "the answer is longer than {limit} bytes and cannot be kept; nothing was done",
    ),
    "receiver.failed": (
        "la demande a échoué et tout a été annulé ; réessayez avec la même clé",
        "the request failed and everything was taken back; try again with the same key",
    ),
    "receiver.store": (
        "la base de la boîte de réception a échoué ({operation} : {cause}) ; réessayez avec la même clé",
        "the database of the inbox failed ({operation}: {cause}); try again with the same key",
    ),
    "receiver.no_driver": (
        "PostgreSQL demande le paquet psycopg ; installez agentl[postgres]",
        "PostgreSQL needs the package psycopg; install agentl[postgres]",
    ),
}
