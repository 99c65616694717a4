import { suite } from "uvu";
import * as assert from "uvu/assert";
import { eventsOf, toMessage } from "./model_events.ts";
import { type Any, ask, LOCAL, newMessages, text } from "./test_messages.ts";
import { matchSkills, stem } from "./word_match.ts";

const test = suite("skills/messages/scripted_model");

const SELF =
  "This is the scripted model that is built into Trivet, not a language model. It matches words of the " +
  "task against the names and descriptions of skills, and shows what a language model would receive.";

const say = (content: string): Any => ({ messages: [{ role: "user", content }] });
const loads = (answer: Any): string[] =>
  answer.content.filter(({ type }: Any) => type === "server_tool_use").map(({ input }: Any) => input.path);

test("it loads the skill whose words the task has, and says what it is, why and what it loaded", async () => {
  const { say: post } = newMessages();
  const answer = await post(ask(["tables", "forms"], say("Please fill this form for me")));
  assert.equal(answer.content.map(({ type }: Any) => type), [
    "text",
    "server_tool_use",
    "text_editor_code_execution_tool_result",
    "text",
  ]);
  assert.equal(answer.content[0], text("Loading the skill forms."));
  const { content } = answer.content[2].content;
  assert.is(
    answer.content[3].text,
    `${SELF}\n\nThe task: "Please fill this form for me".\n\nThe skill forms was chosen by the words: fill, form.\n\n` +
      `Loaded its instructions, about 60 tokens:\n\n${content}`,
  );
  assert.ok(content.includes(LOCAL[0]![1].split("---\n")[2]!.trimEnd()));
  assert.is(answer.stop_reason, "end_turn");
  assert.is(answer.model, "any");
  assert.ok(answer.usage.input_tokens > 500 && answer.usage.output_tokens > 100);
});

test("files that the task names are read as well", async () => {
  const { say: post } = newMessages();
  const answer = await post(ask(["forms"], say("Fill the form by fields.md")));
  assert.equal(loads(answer), ["/skills/forms/SKILL.md", "/skills/forms/references/fields.md"]);
  assert.match(
    answer.content.at(-1).text,
    /Loaded references\/fields\.md, about 4 tokens:\n\none\ntwo\nthree$/,
  );
});

test("the same request has the same answer", async () => {
  const { say: post } = newMessages();
  const [a, b, c] = await Promise.all(
    ["Fill the form", "Fill the form", "Fill a form"].map((task) => post(ask(["forms"], say(task)))),
  );
  assert.equal({ ...a, container: 0 }, { ...b, container: 0 });
  assert.not.equal(a.id, c.id);
});

test("a stream makes the same message", async () => {
  const { post, say: whole } = newMessages();
  const response = await post(ask(["forms"], { ...say("Fill the form"), stream: true }));
  async function* chunks(): AsyncGenerator<Uint8Array> {
    yield new Uint8Array(await response.arrayBuffer());
  }
  const streamed = await toMessage(eventsOf({ type: "text/event-stream", chunks: chunks() })) as Any;
  const plain = await whole(ask(["forms"], say("Fill the form")));
  const bare = (answer: Any) =>
    JSON.parse(JSON.stringify({ ...answer, container: 0 }).replace(/(msg|toolu)_01\w{22}/g, "$1"));
  assert.equal(bare(streamed), bare(plain));
});

test("no skill that fits, no skills, and none of its own", async () => {
  const { say: post } = newMessages();
  const none = await post(ask(["forms", "tables"], say("Sing a song")));
  assert.is(
    none.content[0].text,
    `${SELF}\n\nThe task: "Sing a song".\n\nNo word of the task is in the name or description of a skill. ` +
      "Available skills: forms, tables.",
  );
  const bare = await post({ model: "any", max_tokens: 1000, ...say("Hi") });
  assert.is(bare.content[0].text, `${SELF}\n\nThe task: "Hi".\n\nThe request has no skills.`);
  assert.is(bare.container, null);
});

test("a second task in the conversation loads what the first did not", async () => {
  const { say: post } = newMessages();
  const body = ask(["forms", "tables"], say("Fill the form"));
  const first = await post(body);
  const turns = [...body.messages as Any[], { role: "assistant", content: first.content }];
  const again = await post({ ...body, messages: [...turns, { role: "user", content: "Now the next form" }] });
  assert.equal(loads(again), []);
  assert.match(again.content[0].text, /Loaded its instructions/);
  const other = await post({
    ...body,
    messages: [...turns, { role: "user", content: [text("Make tables")] }],
  });
  assert.equal(loads(other), ["/skills/tables/SKILL.md"]);
});

test("stop sequences and max_tokens end its answer", async () => {
  const { say: post } = newMessages();
  const body = { model: "any", max_tokens: 1000, ...say("Hi") };
  const stopped = await post({ ...body, stop_sequences: ["never", "built", "scripted"] });
  assert.equal([stopped.content, stopped.stop_reason, stopped.stop_sequence], [
    [text("This is the ")],
    "stop_sequence",
    "scripted",
  ]);
  const cut = await post({ ...body, max_tokens: 4 });
  assert.equal([cut.content, cut.stop_reason], [[text("This")], "max_tokens"]);
  const nothing = await post({ ...body, max_tokens: 0 });
  assert.equal([nothing.content, nothing.stop_reason], [[], "max_tokens"]);
});

test("words meet by their stems, names weigh more, and ties go by the order of the request", () => {
  const skill = (name: string, description: string) => ({ name, description });
  const skills = [
    skill("pdf-forms", "Fills in forms"),
    skill("writing", "Plans letters"),
    skill("letters", "Something else"),
    skill("other", "Plans letters"),
    skill("the-use", "Use it when a task is"),
  ];
  const found = (task: string) => matchSkills(task, skills).map(({ index, words }) => [index, ...words]);
  assert.equal(found("Filling a FORM"), [[0, "filling", "form"]]);
  assert.equal(found("I planned a letter, écrit"), [[2, "letter"], [1, "planned", "letter"], [
    3,
    "planned",
    "letter",
  ]]);
  assert.equal(found("use the task"), []);
  assert.equal(found("with pdf-forms, letters")[0], [0, "pdf", "forms"]);
  assert.equal(found(""), []);
  for (
    const [a, b] of [["writing", "write"], ["boxes", "box"], ["entries", "entry"], ["planned", "plan"], [
      "classes",
      "class",
    ]]
  ) {
    assert.is(stem(a!), stem(b!));
  }
  for (const word of ["this", "status", "bring", "used", "css", "日本語"]) {
    assert.ok(stem(word).length >= 2, word);
  }
});

test.run();
