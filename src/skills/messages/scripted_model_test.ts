import { suite } from "uvu";
import * as assert from "uvu/assert";
import { eventsOf, toMessage } from "./model_events.ts";
import { type Any, createRequest, LOCAL, newMessages, text } from "./test_messages.ts";
import { matchSkills, stem } from "./word_match.ts";

const test = suite("skills/messages/scripted_model");

/** Asserts that a text states what it is and contains these parts in this order. */
function assertParts(text: string, ...parts: readonly string[]): void {
  let at = 0;
  for (const part of ["scripted model", ...parts]) {
    const found = text.indexOf(part, at);
    assert.ok(found >= 0, `${JSON.stringify(part)} is missing in ${text}`);
    at = found + part.length;
  }
}

const taskOf = (content: string): Any => ({ messages: [{ role: "user", content }] });
const loads = (answer: Any): string[] =>
  answer.content.filter(({ type }: Any) => type === "server_tool_use").map(({ input }: Any) => input.path);

test("the model loads the skill that shares words with the task, and its answer contains words and instructions", async () => {
  const { send: post } = newMessages();
  const answer = await post(createRequest(["tables", "forms"], taskOf("Please fill this form for me")));
  assert.equal(answer.content.map(({ type }: Any) => type), [
    "text",
    "server_tool_use",
    "text_editor_code_execution_tool_result",
    "text",
  ]);
  assert.match(answer.content[0].text, /\bforms\b/);
  const { content } = answer.content[2].content;
  const shown: string = answer.content[3].text;
  assertParts(shown, '"Please fill this form for me"', "forms", "fill, form", "60", "\n\n");
  assert.ok(shown.endsWith(`\n\n${content}`));
  assert.ok(content.includes(LOCAL[0]![1].split("---\n")[2]!.trimEnd()));
  assert.is(answer.stop_reason, "end_turn");
  assert.is(answer.model, "any");
  assert.ok(answer.usage.input_tokens > 500 && answer.usage.output_tokens > 100);
});

test("the model reads files that the task names", async () => {
  const { send: post } = newMessages();
  const answer = await post(createRequest(["forms"], taskOf("Fill the form by fields.md")));
  assert.equal(loads(answer), ["/skills/forms/SKILL.md", "/skills/forms/references/fields.md"]);
  assert.match(answer.content.at(-1).text, /references\/fields\.md\b.*\b4\b.*\n\none\ntwo\nthree$/);
});

test("equal requests get equal messages", async () => {
  const { send: post } = newMessages();
  const [a, b, c] = await Promise.all(
    ["Fill the form", "Fill the form", "Fill a form"].map((task) =>
      post(createRequest(["forms"], taskOf(task)))
    ),
  );
  assert.equal({ ...a, container: 0 }, { ...b, container: 0 });
  assert.not.equal(a.id, c.id);
});

test("a stream assembles to the same message", async () => {
  const { post, send: whole } = newMessages();
  const response = await post(createRequest(["forms"], { ...taskOf("Fill the form"), stream: true }));
  async function* chunks(): AsyncGenerator<Uint8Array> {
    yield new Uint8Array(await response.arrayBuffer());
  }
  const streamed = await toMessage(eventsOf({ type: "text/event-stream", chunks: chunks() })) as Any;
  const plain = await whole(createRequest(["forms"], taskOf("Fill the form")));
  const bare = (answer: Any) =>
    JSON.parse(JSON.stringify({ ...answer, container: 0 }).replace(/(msg|toolu)_01\w{22}/g, "$1"));
  assert.equal(bare(streamed), bare(plain));
});

test("without a matching skill the answer lists the available skills", async () => {
  const { send: post } = newMessages();
  const unmatched = await post(createRequest(["forms", "tables"], taskOf("Sing a song")));
  assertParts(unmatched.content[0].text, '"Sing a song"', "forms, tables");
  const bare = await post({ model: "any", max_tokens: 1000, ...taskOf("Hi") });
  assertParts(bare.content[0].text, '"Hi"');
  assert.not.match(bare.content[0].text, /forms|tables/);
  assert.is(bare.container, null);
});

test("a second task loads only skills that the conversation does not contain", async () => {
  const { send: post } = newMessages();
  const body = createRequest(["forms", "tables"], taskOf("Fill the form"));
  const first = await post(body);
  const turns = [...body.messages as Any[], { role: "assistant", content: first.content }];
  const repeated = await post({
    ...body,
    messages: [...turns, { role: "user", content: "Now the next form" }],
  });
  assert.equal(loads(repeated), []);
  assert.match(repeated.content[0].text, /<skill_content name="forms"/);
  const other = await post({
    ...body,
    messages: [...turns, { role: "user", content: [text("Make tables")] }],
  });
  assert.equal(loads(other), ["/skills/tables/SKILL.md"]);
});

test("stop_sequences and max_tokens end the answer", async () => {
  const { send: post } = newMessages();
  const body = { model: "any", max_tokens: 1000, ...taskOf("Hi") };
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

test("words match by stem, names count more, and equal scores keep the order of the request", () => {
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
