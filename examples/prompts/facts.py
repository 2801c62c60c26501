"""Ten questions for a fact, each with the words of a right answer."""

from answers import Words

from prompts.prompt import Kind, Prompt, chat

FACT = Kind("fact", 12, "\n")


def _fact(name: str, question: str, words: str, right: str, wrong: str) -> Prompt:
    return Prompt(name, FACT, chat(question), Words(tuple(words.split("|"))), right, wrong)


FACTS = (
    _fact("fact-1", "What is the capital of Japan?", "Tokyo", "It is Tokyo.", "It is Kyoto."),
    _fact("fact-2", "How many days are in a week?", "seven|7", "There are 7 days.", "There are 6."),
    _fact(
        "fact-3",
        "Which gas do plants take from the air to grow?",
        "carbon dioxide|CO2",
        "Plants take in carbon dioxide.",
        "Plants take in helium.",
    ),
    _fact(
        "fact-4", "Who wrote Romeo and Juliet?", "Shakespeare", "Shakespeare did.", "Goethe did."
    ),
    _fact("fact-5", "Which planet is called the Red Planet?", "Mars", "That is Mars.", "Venus."),
    _fact(
        "fact-6",
        "What is the largest ocean on Earth?",
        "Pacific",
        "The Pacific Ocean.",
        "The Atlantic Ocean.",
    ),
    _fact(
        "fact-7",
        "At how many degrees Celsius does water boil at sea level?",
        "100|hundred",
        "At 100 degrees.",
        "At 1000 degrees.",
    ),
    _fact(
        "fact-8",
        "Which language do most people in Brazil speak?",
        "Portuguese",
        "They speak Portuguese.",
        "They speak Spanish.",
    ),
    _fact("fact-9", "What is the chemical symbol for gold?", "Au", "It is Au.", "It is Ag."),
    _fact(
        "fact-10",
        "What is the largest animal that lives today?",
        "blue whale",
        "It is the blue whale.",
        "It is the elephant.",
    ),
)
