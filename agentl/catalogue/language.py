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
    "parse.expected": _met("{wanted} attendu ; trouvé : {found}", "{wanted} expected, {found} found"),
    "parse.name": _met("nom attendu ; trouvé : {found}", "a name is expected, {found} found"),
    "parse.expression": _met(
        "expression attendue ; trouvé : {found}", "an expression is expected, {found} found"
    ),
    "parse.statement": _met(
        "instruction attendue ; trouvé : {found}", "a statement is expected, {found} found"
    ),
    "parse.section_wanted": _met(
        "section d'AGENT attendue ; trouvé : {found}", "a section of AGENT is expected, {found} found"
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
        "VERSION veut une chaîne ou un nombre ; trouvé : {found}",
        "VERSION wants a string or a number, {found} found",
    ),
    "parse.quantity": _met(
        "{quantity} : nombre attendu ; trouvé : {found}", "{quantity}: a number is expected, {found} found"
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
        "GIVEN, EXPECT ou WITHIN attendu ; trouvé : {found}",
        "GIVEN, EXPECT or WITHIN is expected, {found} found",
    ),
    "parse.assertion": _met("assertion inconnue : {word}", "unknown assertion: {word}"),
    "parse.no_expectation": (
        "colonne {column} : le scénario {scenario} n'a aucun EXPECT, toujours satisfait : ajoutez-en un",
        "column {column}: scenario {scenario} has no EXPECT, so it would always be satisfied: add one",
    ),
    "parse.judge_kind": _met(
        "la question `{field}` doit être NOUL, CHOICE ou SCORE ; trouvé : {found}",
        "question `{field}` must be NOUL, CHOICE or SCORE, {found} found",
    ),
    "parse.judge_question": _met(
        "la question `{field}` ({kind}) doit être écrite entre guillemets ; trouvé : {found}",
        "question `{field}` ({kind}) must be quoted, {found} found",
    ),
    "parse.judge_option": _met(
        "l'option `{option}` de `{field}` veut une description entre guillemets ; trouvé : {found}",
        "option `{option}` of `{field}` needs a quoted description, {found} found",
    ),
    "parse.judge_levels": _met(
        "les niveaux de `{field}` sont des descriptions entre guillemets ; trouvé : {found}",
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
    # --- the kind of a token that was met (PER-3), and the classes of what could stand there ---
    "parse.kind.KW": ("le mot réservé {text}", "the reserved word {text}"),
    "parse.kind.IDENT": ("le nom `{text}`", "the name `{text}`"),
    "parse.kind.NUM": ("le nombre {text}", "the number {text}"),
    "parse.kind.PCT": ("le pourcentage {text}", "the percentage {text}"),
    "parse.kind.DUR": ("la durée {text}", "the duration {text}"),
    "parse.kind.STR": ("le texte {text}", "the text {text}"),
    "parse.kind.DATETIME": ("la date {text}", "the date {text}"),
    "parse.kind.OP": ("`{text}`", "`{text}`"),
    "parse.kind.EOF": ("la fin du fichier", "the end of the file"),
    "parse.class.IDENT": ("‹nom›", "‹name›"),
    "parse.class.NUM": ("‹nombre›", "‹number›"),
    "parse.class.PCT": ("‹pourcentage›", "‹percentage›"),
    "parse.class.DUR": ("‹durée›", "‹duration›"),
    "parse.class.STR": ("‹texte›", "‹text›"),
    "parse.class.DATETIME": ("‹date›", "‹date›"),
    "parse.class.EOF": ("‹fin du fichier›", "‹end of file›"),
    "parse.class.name": ("‹nom›", "‹name›"),
    "parse.class.expr": ("‹expression›", "‹expression›"),
    "parse.class.stmt": ("‹instruction›", "‹statement›"),
    "parse.class.operator": ("‹opérateur›", "‹operator›"),
    # --- what most likely went wrong, and what to write ---
    "parse.hint.open": (
        "`{opener}` ouvert ligne {open_line}, colonne {open_column} ({construct}) n'est pas fermé : "
        "ajoutez `{closer}`",
        "`{opener}` opened at line {open_line}, column {open_column} ({construct}) is still open: "
        "add `{closer}`",
    ),
    "parse.hint.crossed": (
        "`{opener}` ouvert ligne {open_line}, colonne {open_column} veut `{closer}` avant cela",
        "`{opener}` opened at line {open_line}, column {open_column} wants its `{closer}` before this",
    ),
    "parse.hint.surplus": (
        "une accolade fermante de trop : tout ce qui a été ouvert est déjà fermé",
        "one closing brace too many: all that was opened is closed already",
    ),
    "parse.hint.capitals": (
        "les mots réservés s'écrivent en capitales : `{word}` est ici un nom ordinaire, écrivez {keyword}",
        "reserved words are written in capitals: `{word}` is an ordinary name here, write {keyword}",
    ),
    "parse.hint.close": ("voulez-vous dire {keyword} ?", "do you mean {keyword}?"),
    "parse.hint.equals": (
        "une comparaison s'écrit `==` ; `=` affecte une valeur",
        "a comparison is written `==`; `=` assigns a value",
    ),
    "parse.hint.chained": (
        "une comparaison ne s'enchaîne pas : écrivez `a < b AND b < c`",
        "a comparison cannot be chained: write `a < b AND b < c`",
    ),
    "parse.hint.reserved": (
        "{word} est un mot réservé : choisissez un autre nom, `{lower}` par exemple",
        "{word} is a reserved word: choose another name, `{lower}` for example",
    ),
    "parse.hint.braces": (
        "plusieurs chemins se mettent entre accolades : `{keyword} {{ a.b, c.d }}`",
        "several paths stand in braces: `{keyword} {{ a.b, c.d }}`",
    ),
    "parse.hint.then": (
        "un IF s'écrit `IF condition THEN {{ … }}`",
        "an IF is written `IF condition THEN {{ … }}`",
    ),
    "parse.hint.on_fail": (
        "ON FAIL s'écrit dans les accolades : `VERIFY {{ condition ON FAIL {{ … }} }}`",
        "ON FAIL stands inside the braces: `VERIFY {{ condition ON FAIL {{ … }} }}`",
    ),
    "parse.hint.loop": (
        "UNTIL vient avant MAX : `LOOP UNTIL condition MAX 3 {{ … }}`",
        "UNTIL comes before MAX: `LOOP UNTIL condition MAX 3 {{ … }}`",
    ),
    "parse.hint.unit": (
        "un nombre et son unité se touchent : `5min`",
        "a number touches its unit: `5min`",
    ),
    "lex.hint.quotes": (
        'les textes s\'écrivent entre guillemets doubles droits : "…"',
        'texts stand between straight double quotes: "…"',
    ),
    "lex.hint.semicolon": (
        "rien ne termine une instruction : retirez le point-virgule",
        "nothing ends a statement: remove the semicolon",
    ),
    "lex.hint.and": ("« et » s'écrit AND", "“and” is written AND"),
    "lex.hint.or": ("« ou » s'écrit OR", "“or” is written OR"),
    "lex.hint.not": ("« non » s'écrit NOT, « différent » `!=`", "“not” is written NOT, “differs” `!=`"),
    "lex.hint.percent": ("un pourcentage s'écrit sans espace : `5%`", "a percentage has no space: `5%`"),
    "lex.hint.name": (
        "un nom se compose de lettres sans accent, de chiffres et de `_` ; un texte se met entre guillemets",
        "a name is made of plain letters, digits and `_`; a text stands between quotes",
    ),
}
