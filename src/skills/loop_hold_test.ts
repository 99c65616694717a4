import { suite } from "uvu";
import * as assert from "uvu/assert";
import { deflate, extraField, writeArchive } from "../../fixtures/hostile/archive.ts";
import { deflatedNothing } from "../../fixtures/hostile/bomb.ts";
import { assertLoopIsFree } from "../http/test_loop_watchdog.ts";
import { MAX_SKILL_MD_BYTES } from "./package/skill_md_size.ts";
import { crc32 } from "./archive/crc32.ts";
import { multipart, newService, type TestFile } from "./test_service.ts";

const test = suite("skills: uploads and the event loop");
const encoder = new TextEncoder();
const HEAD = "---\nname: demo\ndescription: Use when: testing\n---\n";
const good: TestFile = ["demo/SKILL.md", "---\nname: demo\ndescription: Use when testing.\n---\nText\n"];
const [name, content] = good;
/** A SKILL.md that repeats a text up to `size` bytes. */
const markdown = (text: string, size: number = MAX_SKILL_MD_BYTES): TestFile[] => [
  [name, HEAD + text.repeat(Math.floor((size - HEAD.length) / encoder.encode(text).length))],
];
const archive = async (entries: Parameters<typeof writeArchive>[0]["entries"]): Promise<TestFile[]> => [
  ["a.zip", await writeArchive({ entries: [{ name, content }, ...entries] })],
];
const many = (count: number, path: (i: number) => string): TestFile[] => [
  good,
  ...Array.from({ length: count }, (_, i): TestFile => [path(i), "x"]),
];
const text = encoder.encode("some text, some more of it; ".repeat(300_000)).map((byte, i) =>
  byte + (i * 7919 % 3)
);

for (
  const [what, status, make] of [
    [
      "blocks that unpack to nothing",
      400,
      () => archive([{ name: "demo/x", packed: deflatedNothing(7_900_000), method: 8, size: 0, crc: 0 }]),
    ],
    [
      "a long block",
      413,
      async () =>
        archive([{
          name: "demo/x",
          packed: await deflate(text),
          method: 8,
          size: text.length,
          crc: crc32(text),
        }]),
    ],
    ["files with blocks that unpack to nothing", 400, () =>
      archive(
        Array.from({ length: 1900 }, (_, i) => ({
          name: `demo/${i}`,
          packed: deflatedNothing(300),
          method: 8,
          size: 0,
          crc: 0,
        })),
      )],
    ["extra fields", 200, () =>
      archive(
        Array.from({ length: 60 }, (_, i) => ({
          name: `demo/${i}`,
          content: "",
          extra: extraField(1, new Uint8Array(65_528)),
        })),
      )],
    [
      "folders outside the archive",
      400,
      () =>
        archive(
          Array.from({ length: 1990 }, (_, i) => ({ name: `../${"a".repeat(150)}${i}/`, content: "" })),
        ),
    ],
    [
      "names that are slow to normalize",
      400,
      () =>
        archive(Array.from({ length: 100 }, (_, i) => ({ name: "\u0344".repeat(16_000) + i, content: "" }))),
    ],
    [
      "names that differ in case",
      400,
      () => many(1900, (i) => `demo/${("\u0390".repeat(30) + "/").repeat(10)}${i % 2 ? "A" : "a"}`),
    ],
    ["a SKILL.md of 8 MB", 400, () => markdown("\r", 8_000_000)],
    ["line ends", 400, () => markdown("\r")],
    ["tags", 400, () => markdown("\u{e0041}")],
    ["hidden lines", 400, () => markdown("\u200b\n")],
    ["bare colons", 400, () => [[name, `---\nname: demo\ndescription: ${"a: ".repeat(5000)}\n---\n`]]],
    ["a long flow", 400, () => [[name, `---\nname: demo\nx: [${"a,".repeat(7000)}]\n---\n`]]],
    ["near delimiters", 200, () => [good, ["demo/x", "\r\n------test-boundar".repeat(300_000)]]],
    ["1,990 files", 200, () => many(1990, (i) => `demo/${i}`)],
  ] as readonly [string, number, () => TestFile[] | Promise<TestFile[]>][]
) {
  test(`an upload of ${what} holds the event loop for at most 50 ms and gets a short response`, async () => {
    const { body, type } = multipart(await make());
    for (const path of ["/v1/skills/validate", "/v1/skills"]) {
      let answer: Response | undefined;
      await assertLoopIsFree(async () => {
        const { send } = await newService();
        answer = await send(path, { method: "POST", body, headers: { "content-type": type } });
      });
      assert.is(answer!.status, path === "/v1/skills" ? status : 200);
      assert.ok((await answer!.text()).length < 100_000);
    }
  });
}

test.run();
