"""Ten conversations, each with words that its next turn has to hold."""

from answers import Words

from prompts.prompt import Kind, Prompt, chat

DIALOGUE = Kind("dialogue", 14, "\n")


def _dialogue(name: str, turns: tuple[str, ...], words: str, right: str, wrong: str) -> Prompt:
    return Prompt(name, DIALOGUE, chat(*turns), Words(tuple(words.split("|"))), right, wrong)


DIALOGUES = (
    _dialogue(
        "dialogue-1",
        ("My name is Anna.", "Nice to meet you! How can I help you?", "What is my name?"),
        "Anna",
        "Your name is Anna.",
        "My name is SmolLM.",
    ),
    _dialogue(
        "dialogue-2",
        ("I have a cat called Luna.", "That is a lovely name.", "What is my cat called?"),
        "Luna",
        "Your cat is called Luna.",
        "Your cat is called Max.",
    ),
    _dialogue(
        "dialogue-3",
        ("I live in Oslo.", "It must be cold there in winter.", "In which city do I live?"),
        "Oslo",
        "You live in Oslo.",
        "You live in New York.",
    ),
    _dialogue(
        "dialogue-4",
        ("I like green best.", "Like the trees!", "What is my favorite color?"),
        "green",
        "It is green.",
        "It is blue.",
    ),
    _dialogue(
        "dialogue-5",
        ("I work as a nurse.", "That is an important job.", "What is my job?"),
        "nurse",
        "You are a nurse.",
        "You are a teacher.",
    ),
    _dialogue(
        "dialogue-6",
        ("I am learning French.", "Good luck!", "Which language am I learning?"),
        "French",
        "You are learning French.",
        "You are learning English.",
    ),
    _dialogue(
        "dialogue-7",
        ("Our train leaves at nine.", "Then be there early.", "When does our train leave?"),
        "nine|9|9:00",
        "It leaves at nine.",
        "It leaves at 19:30.",
    ),
    _dialogue(
        "dialogue-8",
        ("I want to order a pizza.", "Of course!", "What did I say I want to order?"),
        "pizza",
        "You want a pizza.",
        "You want a salad.",
    ),
    _dialogue(
        "dialogue-9",
        ("My brother Paul plays chess.", "How nice!", "Which game does Paul play?"),
        "chess",
        "Paul plays chess.",
        "Paul plays football.",
    ),
    _dialogue(
        "dialogue-10",
        ("It is raining outside.", "Then stay dry!", "Do I need an umbrella or sunglasses?"),
        "umbrella",
        "Take an umbrella.",
        "Take sunglasses.",
    ),
)
