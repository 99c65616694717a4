import { suite } from "uvu";
import * as assert from "uvu/assert";
import { DATA_OPTIONS } from "./data.ts";
import { describeOptions, readArguments } from "./options.ts";
import { UsageError } from "./output.ts";

const test = suite("readArguments and describeOptions");

const OPTIONS = {
  verbose: { summary: "print more" },
  name: { value: "NAME", summary: "a name" },
  data: { value: "DIR", summary: "a folder", default: "data", shownDefault: "./data", variable: "TEST_DATA" },
  mode: { value: "MODE", words: ["fast", "slow"], summary: "fast or slow", default: "fast" },
  port: { value: "N", range: [0, 65535], unit: "ports", summary: "a port", default: 80 },
  tag: { value: "TAG", isRepeatable: true, summary: "a tag" },
  prefix: { value: "PREFIX", summary: "a prefix", canBeEmpty: true },
  url: {
    value: "URL",
    summary: "a URL",
    parse: (text: string) => URL.parse(text) ?? undefined,
    expected: "a URL",
    isSecret: true,
  },
} as const;

test("omitted options have their defaults", () => {
  const { values, given, operands } = readArguments([], OPTIONS, 0, {});
  assert.equal(values, {
    verbose: false,
    name: undefined,
    data: "data",
    mode: "fast",
    port: 80,
    tag: undefined,
    prefix: undefined,
    url: undefined,
  });
  assert.is(given.size, 0);
  assert.equal(operands, []);
});

test("an empty value is refused, unless the option can be empty", () => {
  for (
    const words of [["--name", ""], ["--data="], ["--tag", "x", "--tag", ""], ["--mode", ""], ["--url", ""]]
  ) {
    assert.throws(() => readArguments(words, OPTIONS, 0, {}), (error: Error) => error instanceof UsageError);
  }
  assert.throws(() => readArguments([], OPTIONS, 0, { TEST_DATA: "" }), /TEST_DATA/);
  assert.is(readArguments(["--prefix", ""], OPTIONS, 0, {}).values.prefix, "");
});

test("values have the types of their declarations", () => {
  const words = [
    "a",
    "--verbose",
    "--mode",
    "fast",
    "--mode",
    "slow",
    "--port=0",
    "--tag",
    "x",
    "--tag",
    "y",
  ];
  const { values, given, operands } = readArguments([...words, "--url", "s3://b"], OPTIONS, 1, {});
  const mode: "fast" | "slow" = values.mode;
  const port: number = values.port;
  const tags: readonly string[] | undefined = values.tag;
  assert.equal([values.verbose, mode, port, tags, values.url?.protocol], [
    true,
    "slow",
    0,
    ["x", "y"],
    "s3:",
  ]);
  assert.equal([...given], ["verbose", "mode", "port", "tag", "url"]);
  assert.equal(operands, ["a"]);
});

test("an environment variable sets an omitted option", () => {
  const env = { TEST_DATA: "from-variable" };
  const { values, given } = readArguments([], OPTIONS, 0, env);
  assert.is(values.data, "from-variable");
  assert.not.ok(given.has("data"));
  assert.is(readArguments(["--data", "from-option"], OPTIONS, 0, env).values.data, "from-option");
});

for (
  const [words, mentions] of [
    [["a"], ['"a"']],
    [["--no-such"], ["'--no-such'"]],
    [["--mode", "quick"], ["--mode ", "fast, slow", '"quick"']],
    [["--port", "70000"], ["--port ", "ports", "0 to 65535", '"70000"']],
    [["--port", "1e3"], ["--port ", '"1e3"']],
  ] as const
) {
  test(`${words.join(" ")} is a UsageError that names ${mentions.join(" and ")}`, () => {
    let thrown: unknown;
    try {
      readArguments(words, OPTIONS, 0, {});
    } catch (error) {
      thrown = error;
    }
    assert.instance(thrown, UsageError);
    for (const mention of mentions) assert.match((thrown as Error).message, mention);
  });
}

test("an identifier that begins with a dash is a value", () => {
  for (const id of ["-81KDPlhgKTa5EnZ_Gh_3Q", "--1KDPlhgKTa5EnZ_Gh_3Q", "-name-of-identifier-X"]) {
    const { values, operands } = readArguments(["one", id, "--name", id, "--tag", id], OPTIONS, 2, {});
    assert.equal([values.name, values.tag, operands], [id, [id], ["one", id]]);
  }
  for (const option of ["-v", "--verbos", "--unknown-long-option", "--unknownLongOption"]) {
    assert.throws(() => readArguments([option], OPTIONS, 1, {}), /Unknown option/);
  }
});

test("an error never contains the user name and the password of a URL", () => {
  for (const user of ["user:pass", "pass", "user:pass/pass", "user:pass@pass"]) {
    assert.throws(
      () => readArguments(["--mode", `https://${user}@a.example`], OPTIONS, 0, {}),
      ({ message }: Error) => message.includes("a.example") && !message.includes("pass"),
    );
  }
});

test("an error never contains the value of a secret option", () => {
  assert.throws(
    () => readArguments(["--url", "pass word"], OPTIONS, 0, {}),
    (error: Error) => error.message.startsWith("--url ") && !/pass|word/.test(error.message),
  );
});

test("describeOptions() lists each option with its default", () => {
  assert.equal(describeOptions(OPTIONS).split("\n"), [
    "  --verbose             print more",
    "  --name NAME           a name",
    "  --data DIR            a folder (default: ./data, or TEST_DATA)",
    "  --mode MODE           fast or slow (default: fast)",
    "  --port N              a port (default: 80)",
    "  --tag TAG             a tag (repeatable)",
    "  --prefix PREFIX       a prefix",
    "  --url URL             a URL",
  ]);
});

test("describeOptions() wraps long lines and puts a long option on its own line", () => {
  const summary = `${"word ".repeat(20)}
    end`;
  const lines = describeOptions({ "a-long-name-of-an-option": { value: "VALUE", summary } }).split("\n");
  assert.is(lines[0], "  --a-long-name-of-an-option VALUE");
  assert.ok(lines.length > 2 && lines.every((line) => line.length <= 100));
  assert.match(lines.at(-1)!, /^ {24}.*word end$/);
});

test("a blob store with an unknown parameter is refused", () => {
  const read = (blobs: string) => readArguments(["--blobs", blobs], DATA_OPTIONS).values.blobs?.href;
  const known = "s3://bucket/p?region=x&endpoint=https://s3.example";
  assert.is(read(known), known);
  assert.throws(() => read("s3://bucket/p?regoin=x"), /--blobs.*region=/);
});

test.run();
