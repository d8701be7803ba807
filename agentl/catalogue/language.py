"""Wordings of lexis and grammar (codes `lex.` `parse.`).

The place comes before each text as ``{filename}:{line}: `` (`PER-2`); ``expected`` lists tokens as
they are written, token kinds in capitals and classes of the grammar in ``‹ ›``.
"""

from __future__ import annotations

from typing import Final

_HERE_FR: Final = " ; peut se trouver ici : {expected}"
_HERE_EN: Final = "; what can stand here: {expected}"


def _met(french: str, english: str) -> tuple[str, str]:
    return f"colonne {{column}} : {french}{_HERE_FR}", f"column {{column}}: {english}{_HERE_EN}"


TEXTS: Final[dict[str, tuple[str, str]]] = {
    "lex.comment": (
        "commentaire `/*` non terminé, ouvert ligne {line}, colonne {column} : fermez-le par `*/`",
        "unterminated comment `/*`, opened at line {line}, column {column}: close it with `*/`",
    ),
    "lex.string": (
        "chaîne non terminée, ouverte ligne {line}, colonne {column} : fermez-la par un guillemet double",
        "unterminated string, opened at line {line}, column {column}: close it with a double quote",
    ),
    "lex.character": (
        "caractère inattendu {character}, ligne {line}, colonne {column} : retirez-le (ou citez-le)",
        "unexpected character {character}, line {line}, column {column}: remove it, or put it into a string",
    ),
    "lex.number": (
        "nombre de {digits} caractères, ligne {line}, colonne {column} : la limite est de {limit}",
        "a number of {digits} characters, line {line}, column {column}: the limit is {limit}",
    ),
    "lex.encoding": (
        "octet {byte} qui n'est pas de l'UTF-8, ligne {line}, colonne {column} : enregistrez-le en UTF-8",
        "byte {byte} that is not UTF-8, line {line}, column {column}: save the file as UTF-8",
    ),
    "parse.no_agent": (
        "aucune déclaration AGENT dans {filename} : un programme est fait de `AGENT nom {{ … }}`",
        "no AGENT declaration in {filename}: a program is made of `AGENT name {{ … }}`",
    ),
    "parse.unreadable": (
        "{filename} ne peut pas être lu ({cause}) : vérifiez le chemin et les droits",
        "{filename} cannot be read ({cause}): check the path and its permissions",
    ),
    "parse.too_large": (
        "source de {size} octets, au-delà de la limite de {limit} : découpez le programme",
        "a source of {size} bytes, above the limit of {limit}: split the program",
    ),
    "parse.too_deep": (
        "imbrication de profondeur {depth}, limite {limit} : découpez l'expression ou le bloc",
        "nesting of depth {depth}, above the limit of {limit}: split the expression or the block",
    ),
    "parse.expected": _met("{wanted} attendu, {found} trouvé", "{wanted} expected, {found} found"),
    "parse.name": _met("nom attendu, {found} trouvé", "a name is expected, {found} found"),
    "parse.expression": _met(
        "expression attendue, {found} trouvé", "an expression is expected, {found} found"
    ),
    "parse.statement": _met("instruction attendue, {found} trouvé", "a statement is expected, {found} found"),
    "parse.section_wanted": _met(
        "section d'AGENT attendue, {found} trouvé", "a section of AGENT is expected, {found} found"
    ),
    "parse.section_unknown": _met("section d'AGENT inconnue : {found}", "unknown section of AGENT: {found}"),
    "parse.field": _met("champ inconnu dans {construct} : {found}", "unknown field in {construct}: {found}"),
    "parse.decide": _met("{found} n'est pas permis dans DECIDE", "{found} is not allowed in DECIDE"),
    "parse.policy_effect": _met("effet de politique inconnu : {found}", "unknown policy effect: {found}"),
    "parse.duplicate_argument": (
        "colonne {column} : argument `{name}` donné deux fois : gardez-en un",
        "column {column}: argument `{name}` given twice: keep one",
    ),
    "parse.duplicate_option": (
        "colonne {column} : option {option} donnée deux fois dans ce PLAN : gardez-en une",
        "column {column}: option {option} given twice in this PLAN: keep one",
    ),
    "parse.version": _met(
        "VERSION veut une chaîne ou un nombre, {found} trouvé",
        "VERSION wants a string or a number, {found} found",
    ),
    "parse.quantity": _met(
        "{quantity} : nombre attendu, {found} trouvé", "{quantity}: a number is expected, {found} found"
    ),
    "parse.quantity_confidence": ("confiance", "confidence"),
    "parse.quantity_duration": (
        "durée (avec son unité, comme `5min`)",
        "duration (with its unit, as in `5min`)",
    ),
    "parse.quantity_probability": ("probabilité", "probability"),
    "parse.quantity_cost": ("coût", "cost"),
    "parse.quantity_threshold": ("seuil", "threshold"),
    "parse.quantity_likelihood": ("vraisemblance", "likelihood"),
    "parse.quantity_bits": ("nombre de bits", "number of bits"),
    "parse.quantity_ticks": ("nombre entier de ticks", "whole number of ticks"),
    "parse.quantity_weight": ("poids", "weight"),
    "parse.quantity_prior": ("probabilité a priori", "prior probability"),
    "parse.quantity_abstention": ("seuil d'abstention", "abstention threshold"),
    "parse.quantity_priority": ("priorité", "priority"),
    "parse.quantity_count": ("nombre entier de fois", "whole number of times"),
    "parse.quantity_value": ("valeur", "value"),
    "parse.scenario_clause": _met(
        "GIVEN, EXPECT ou WITHIN attendu, {found} trouvé",
        "GIVEN, EXPECT or WITHIN is expected, {found} found",
    ),
    "parse.assertion": _met("assertion inconnue : {word}", "unknown assertion: {word}"),
    "parse.no_expectation": (
        "colonne {column} : le scénario {scenario} n'a aucun EXPECT, toujours satisfait : ajoutez-en un",
        "column {column}: scenario {scenario} has no EXPECT, so it would always be satisfied: add one",
    ),
    "parse.judge_kind": _met(
        "la question `{field}` doit être NOUL, CHOICE ou SCORE, {found} trouvé",
        "question `{field}` must be NOUL, CHOICE or SCORE, {found} found",
    ),
    "parse.judge_question": _met(
        "la question `{field}` ({kind}) doit être écrite entre guillemets, {found} trouvé",
        "question `{field}` ({kind}) must be quoted, {found} found",
    ),
    "parse.judge_option": _met(
        "l'option `{option}` de `{field}` veut une description entre guillemets, {found} trouvé",
        "option `{option}` of `{field}` needs a quoted description, {found} found",
    ),
    "parse.judge_levels": _met(
        "les niveaux de `{field}` sont des descriptions entre guillemets, {found} trouvé",
        "the levels of `{field}` are quoted descriptions, {found} found",
    ),
    "parse.judge_duplicate": (
        "colonne {column} : la question `{field}` est donnée deux fois : renommez-en une",
        "column {column}: question `{field}` is given twice: rename one",
    ),
    "parse.every": (
        "colonne {column} : le mot EVERY ne fait pas partie de la grammaire ; "
        "écrivez `OBSERVE {{ logs WHEN <condition> }}`",
        "column {column}: the word EVERY is not part of the grammar; "
        "write `OBSERVE {{ logs WHEN <condition> }}`",
    ),
}
