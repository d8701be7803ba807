"""Wordings of check diagnostics (codes `chk.`).

``chk.`` and the code of a diagnostic is its message; ``chk.E013_missing`` and the like are the parts
that say which of several reasons an error has.
"""

from __future__ import annotations

from typing import Final

TEXTS: Final[dict[str, tuple[str, str]]] = {
    "chk.error": ("erreur", "error"),
    "chk.warning": ("alerte", "warn"),
    "chk.line": ("ligne {line}", "line {line}"),
    "chk.E001": (
        "l'outil `{tool}` est appelé mais aucun TOOL ne le déclare : déclarez-le ou corrigez le nom",
        "tool `{tool}` is called but no TOOL declares it: declare it or correct the name",
    ),
    "chk.E002": (
        "le plan `{plan}` est demandé mais aucun PLAN ne le déclare : déclarez-le ou corrigez le nom",
        "plan `{plan}` is asked for but no PLAN declares it: declare it or correct the name",
    ),
    "chk.E003": (
        "la règle {rule} vise `{target}`, ni `*`, ni outil, ni sous-agent : corrigez la cible",
        "rule {rule} targets `{target}`, neither `*` nor a tool nor a sub-agent: correct the target",
    ),
    "chk.E004": (
        "deux {kind} portent le nom `{name}` : renommez-en un",
        "two {kind} share the name `{name}`: rename one",
    ),
    "chk.E005": (
        "EVENT `{event}` n'a aucune instruction : écrivez ce qu'il faut faire, ou retirez-le",
        "EVENT `{event}` has no statement: write what must be done, or remove it",
    ),
    "chk.E006": (
        "{word} vaut {value} dans l'hypothèse `{hypothesis}` : il doit être strictement entre 0 et 1",
        "{word} is {value} in hypothesis `{hypothesis}`: it must be strictly between 0 and 1",
    ),
    "chk.E007": (
        "le MESSAGE `{message}` n'a pas de destinataire connu (TO {to}) : nommez un agent ou BROADCAST",
        "MESSAGE `{message}` has no known addressee (TO {to}): name an agent, or write BROADCAST",
    ),
    "chk.E008": (
        "WRITE INTO SHARED.{key} : cette clé partagée n'est pas déclarée ; ajoutez-la à MEMORY SHARED",
        "WRITE INTO SHARED.{key}: this shared key is not declared; add it to MEMORY SHARED",
    ),
    "chk.E009": (
        "l'outil `{tool}` est appelé dans une expression : appelez-le par une instruction, lisez son OUTPUT",
        "tool `{tool}` is called inside an expression: call it in a statement, then read its OUTPUT",
    ),
    "chk.E010": (
        "le scénario `{scenario}` a WITHIN {within} : il lui faut au moins 1 tick",
        "scenario `{scenario}` has WITHIN {within}: it needs at least 1 tick",
    ),
    "chk.E011": (
        "l'outil `{tool}` a RISK UNSET : jugez son risque avant de l'exécuter",
        "tool `{tool}` has RISK UNSET: judge its risk before running it",
    ),
    "chk.E012": (
        "les agents `{agent}` et `{other}` ont le même nom à la casse près : renommez-en un",
        "agents `{agent}` and `{other}` have the same name but for case: rename one",
    ),
    "chk.E013": (
        "appel de `{tool}` : {trouble} ; accordez l'appel et l'INPUT de l'outil",
        "call of `{tool}`: {trouble}; make the call fit the INPUT of the tool",
    ),
    "chk.E013_too_many": (
        "trop d'arguments positionnels ({parameter})",
        "too many positional arguments ({parameter})",
    ),
    "chk.E013_twice": ("paramètre `{parameter}` donné deux fois", "parameter `{parameter}` given twice"),
    "chk.E013_unknown": ("paramètre inconnu `{parameter}`", "unknown parameter `{parameter}`"),
    "chk.E013_missing": ("paramètre manquant `{parameter}`", "missing parameter `{parameter}`"),
    "chk.E014": (
        "EXPECT {assertion} `{target}` ne nomme ni un outil déclaré ni un EVENT traité : corrigez le nom",
        "EXPECT {assertion} `{target}` names no declared tool and no handled EVENT: correct the name",
    ),
    "chk.E015": (
        "la fonction `{function}` n'existe pas : une expression n'appelle que les fonctions du langage",
        "there is no function `{function}`: an expression calls the functions of the language only",
    ),
    "chk.E016": (
        "`{function}` est mal employée : {trouble}",
        "`{function}` is misused: {trouble}",
    ),
    "chk.E016_path": ("son premier argument doit être un chemin", "its first argument must be a path"),
    "chk.E016_action": (
        "`action` n'existe que dans une garde de politique",
        "`action` exists in a policy guard only",
    ),
    "chk.E016_attested_action": (
        "une attestation porte sur une valeur, pas sur `action`",
        "an attestation is about a value, not about `action`",
    ),
    "chk.E016_too_many": ("elle a trop d'arguments", "it has too many arguments"),
    "chk.E016_named": ("elle ne prend pas d'argument nommé", "it takes no named argument"),
    "chk.E016_tool": (
        "son second argument doit être le nom d'un outil déclaré",
        "its second argument must be the name of a declared tool",
    ),
    "chk.E017": (
        "{construct} écrirait sur `{path}`, réservé à l'exécution : choisissez un autre nom",
        "{construct} would write on `{path}`, which is the runtime's own: choose another name",
    ),
    "chk.E018": (
        "{construct} `{name}` porte le nom du premier segment de `{path}` : renommez l'un des deux",
        "{construct} `{name}` is named like the first segment of `{path}`: rename one of the two",
    ),
    "chk.E019": (
        "SET sur `{path}`, écrit par le capteur de `{observed}` : seul un capteur écrit ce qu'il observe",
        "SET on `{path}`, which the sensor of `{observed}` writes: only sensors write what they observe",
    ),
    "chk.E020": (
        "nom de {kind} `{name}` : {trouble}",
        "{kind} name `{name}`: {trouble}",
    ),
    "chk.E020_form": (
        "ce n'est pas un identifiant en forme NFKC ; n'employez que lettres, chiffres et `_`",
        "it is no identifier in NFKC form; use letters, digits and `_` only",
    ),
    "chk.E020_confusable": (
        "il se confond à l'œil avec `{other}` ; renommez l'un des deux",
        "it looks like `{other}`; rename one of the two",
    ),
    "chk.E021": (
        "la phase {phase} hors de la LOOP de l'agent : une phase ne s'exécute que là",
        "phase {phase} outside the LOOP of the agent: a phase runs there only",
    ),
    "chk.E022": (
        "la question `{field}` est indécidable : {trouble}",
        "question `{field}` is undecidable: {trouble}",
    ),
    "chk.E022_blank": ("son texte est vide", "its text is blank"),
    "chk.E022_options": ("CHOICE veut au moins deux options", "CHOICE needs at least two options"),
    "chk.E022_description": ("une option n'a pas de description", "an option has no description"),
    "chk.E022_levels": ("SCORE veut au moins deux niveaux", "SCORE needs at least two levels"),
    "chk.E022_level": ("un niveau est vide", "a level is blank"),
    "chk.E022_abstain": (
        "ABSTAIN BELOW doit être au-dessus de 0 et au plus 1",
        "ABSTAIN BELOW must be above 0 and at most 1",
    ),
    "chk.E023": (
        "la condition `{name}` n'est liée par rien dans ce programme, elle serait toujours vraie : "
        "corrigez le nom, ou comparez-le à une valeur",
        "nothing in this program binds the condition `{name}`, so it would always be true: "
        "correct the name, or compare it with a value",
    ),
    "chk.E024": (
        "l'agent `{agent}` a une POLICY sans DEFAULT : écrivez `DEFAULT DENY` (ou `DEFAULT ALLOW`)",
        "agent `{agent}` has a POLICY without DEFAULT: write `DEFAULT DENY` (or `DEFAULT ALLOW`)",
    ),
}
