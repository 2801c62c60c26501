"""Ask a vLLM server that was started with top-nσ, as by ``examples/server.sh``.

pip install openai && python examples/client.py --url http://localhost:8000/v1
"""

import argparse

import openai


def complete(client: openai.OpenAI, model: str, prompt: str, **top_n_sigma: float | str) -> str:
    """A completion at temperature 2; ``top_n_sigma`` goes to the processor as it is."""
    answer = client.completions.create(
        model=model,
        prompt=prompt,
        temperature=2.0,
        max_tokens=24,
        seed=1,
        extra_body={"vllm_xargs": top_n_sigma},
    )
    text: str = answer.choices[0].text
    return text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", default="http://localhost:8000/v1")
    parser.add_argument("--prompt", default="The capital of France is")
    arguments = parser.parse_args()
    client = openai.OpenAI(base_url=arguments.url, api_key="none")
    model = client.models.list().data[0].id
    for n in (0.5, 1.0, 2.0):
        print(f"n = {n}: {complete(client, model, arguments.prompt, top_n_sigma=n)!r}")
    print(f"without: {complete(client, model, arguments.prompt)!r}")
    try:
        complete(client, model, arguments.prompt, top_n_sigma=-1.0)
    except openai.BadRequestError as error:
        print(f"n = -1.0: {error.status_code}, {error.message}")


if __name__ == "__main__":
    main()
