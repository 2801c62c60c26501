"""Ten beginnings of a story, each with words of its subject."""

from answers import Words

from prompts.prompt import Kind, Prompt

CONTINUATION = Kind("continuation", 24)


def _continuation(name: str, text: str, words: str, right: str, wrong: str) -> Prompt:
    """``words`` are what a text that stays with the subject is likely to mention one of."""
    return Prompt(name, CONTINUATION, text, Words(tuple(words.split("|"))), right, wrong)


CONTINUATIONS = (
    _continuation(
        "continuation-1",
        "The old sailor pushed his boat into the cold water and",
        "boat|boats|water|sea|ocean|waves|wind|shore|sail|sailed|fish|island|row|rowed|swim|harbor",
        " rowed out into the bay.",
        " opened the fridge.",
    ),
    _continuation(
        "continuation-2",
        "When the snow began to fall, the children ran outside and",
        "snow|snowy|snowman|snowball|snowballs|snowflakes|cold|winter|ice|play|played|playing|white",
        " built a snowman.",
        " bought a car.",
    ),
    _continuation(
        "continuation-3",
        "In the kitchen, grandmother was baking bread. The smell",
        "bread|flour|oven|baking|kitchen|dough|cake|warm|fresh|delicious|butter|house",
        " of warm bread was everywhere.",
        " of petrol was strong.",
    ),
    _continuation(
        "continuation-4",
        "Deep in the forest there lived a fox who",
        "fox|forest|tree|trees|animals|animal|hunt|hunted|den|woods|rabbit|rabbits|wolf|clever|cunning",
        " was afraid of the wolf.",
        " sold insurance.",
    ),
    _continuation(
        "continuation-5",
        "The train was late again, and the people on the platform",
        "train|trains|platform|station|passengers|waiting|waited|late|rails|delay|delayed|crowd",
        " waited in silence.",
        " grew tomatoes.",
    ),
    _continuation(
        "continuation-6",
        "The teacher wrote a word on the board and asked the class",
        "class|word|words|teacher|students|student|board|read|write|spell|question|answer|meaning",
        " what the word meant.",
        " for a hammer.",
    ),
    _continuation(
        "continuation-7",
        "After the storm, the farmer walked through his field and",
        "field|fields|crop|crops|farm|farmer|storm|rain|corn|wheat|soil|plants|land|cows|harvest",
        " saw that the wheat lay flat.",
        " paid the pilot.",
    ),
    _continuation(
        "continuation-8",
        "At midnight the telephone rang. The detective",
        "detective|phone|telephone|call|called|caller|voice|case|crime|murder|police|answered|rang",
        " listened to the voice.",
        " watered the roses.",
    ),
    _continuation(
        "continuation-9",
        "The concert began, and the young pianist",
        "piano|pianist|music|concert|played|play|playing|audience|stage|keys|melody|notes|performance",
        " played as if nobody listened.",
        " ate a sandwich.",
    ),
    _continuation(
        "continuation-10",
        "The astronaut looked back at the Earth and",
        "Earth|space|planet|moon|stars|sky|sun|astronaut|spacecraft|orbit|world|spaceship|universe",
        " thought how small a planet it was.",
        " tied his shoes.",
    ),
)
