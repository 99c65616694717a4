import { join } from "node:path";
import process from "node:process";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { type Environment, readArguments } from "../../runtime/cli/options.ts";
import { openPlace, PLACE_OPTIONS } from "../../runtime/cli/skill/open_skill_place.ts";
import { add } from "../../runtime/cli/skill/skill_add.ts";
import { COMMON_OPTIONS } from "../../runtime/cli/skill/skill_command.ts";
import { pull } from "../../runtime/cli/skill/skill_pull.ts";
import type { SkillPlace } from "../../runtime/cli/skill/skill_place.ts";
import { openSource } from "../../runtime/cli/skill/skill_source.ts";
import { newDataFolder, temporaryFolder } from "../test_process.ts";
import { runSkill, writeSkill } from "./test_skill_command.ts";
import { type SkillsServer, startSkills } from "../skills/test_skills_server.ts";

const test = suite("trivet skill: progress of transfers");
const folder = temporaryFolder();
let server: SkillsServer;
test.before(async () => {
  server = await startSkills();
});
test.after(async () => {
  await server.close();
  folder.remove();
});

const { signal } = new AbortController();
const CONTENT = Uint8Array.from({ length: 3_000_000 }, (_, i) => (i * 31) >> 2 & 255);
const source = writeSkill(folder.path, "demo", { "a.bin": CONTENT, "b.bin": CONTENT.subarray(1) });

/** A store and a server, and how many bytes an upload may have beyond the files. */
const PLACES: Readonly<Record<string, readonly [() => Promise<SkillPlace>, framing: number]>> = {
  store: [async () => open(["--data", await newDataFolder(join(folder.path, "data"))]), 0],
  server: [() => open(["--url", server.url], { TRIVET_API_KEY: server.key }), 2000],
};

function open(argv: readonly string[], env: Environment = {}): Promise<SkillPlace> {
  const { values, given } = readArguments(argv, PLACE_OPTIONS, 0, env);
  return openPlace(values, given, signal, env);
}

for (const [name, [open, framing]] of Object.entries(PLACES)) {
  test(`${name}: the progress of an upload adds up to its size; an archive has its declared length`, async () => {
    const place = await open();
    const opened = await openSource(source);
    const reported: number[] = [];
    let total: number | undefined;
    const progress = {
      begin: (size: number | undefined) => void (total = size),
      advance: (bytes: number) => void reported.push(bytes),
    };
    const { skill } = await place.add({ source: opened }, progress);
    assert.is(reported.reduce((sum, bytes) => sum + bytes, 0), total);
    assert.ok(total! >= opened.size && total! <= opened.size + framing);
    assert.ok(reported.length >= 3);
    const archive = await place.archive(skill.id, skill.latest_version_id!);
    let received = 0;
    for await (const chunk of archive.chunks) received += chunk.length;
    // Bun sends streams in chunks, without Content-Length.
    const isChunked = name === "server" && "Bun" in globalThis;
    assert.is(archive.length, isChunked ? undefined : received);
    assert.ok(received > opened.size);
    await place.close();
  });

  test(`${name}: a slow upload and a slow pull draw a progress bar and erase it`, async () => {
    const place = await open();
    /** Slow enough for a bar: fast transfers draw none. */
    const slow: SkillPlace = {
      ...place,
      add: (content, progress) =>
        place.add(content, {
          begin: (total) => progress.begin(total),
          advance(bytes) {
            const until = performance.now() + 150;
            while (performance.now() < until);
            progress.advance(bytes);
          },
        }),
      async archive(id, version) {
        const { length, chunks } = await place.archive(id, version);
        return { length, chunks: slowly(chunks) };
      },
    };
    for (const [command, operand] of [[add, join(source, "..", "tiny")], [pull, "tiny"]] as const) {
      if (command === add) writeSkill(folder.path, "tiny", { "1": "1", "2": "2", "3": "3", "4": "4" });
      let written = "";
      const output = process.stdout.write;
      process.stdout.write = () => true;
      try {
        const options = { ...command.options, ...COMMON_OPTIONS };
        const args = command === pull ? ["--output", join(folder.path, name), "--force"] : [];
        await command.run({
          values: readArguments(args, options).values,
          operands: [operand],
          json: false,
          terminal: { isTTY: true, columns: 100, write: (text) => written += text },
          signal,
          open: () => Promise.resolve(slow),
        });
      } finally {
        process.stdout.write = output;
      }
      assert.match(written, command === add ? "uploading: " : "pulling: ");
      assert.ok(written.endsWith("\r\x1b[K"));
    }
    await place.close();
  });
}

async function* slowly(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let waits = 2;
  for await (const chunk of chunks) {
    for (const half of [chunk.subarray(0, chunk.length >> 1), chunk.subarray(chunk.length >> 1)]) {
      if (waits-- > 0) await new Promise((resolve) => setTimeout(resolve, 300));
      yield half;
    }
  }
}

test("--json prints one line of JSON and nothing to standard error", async () => {
  const args = ["add", source, "--display-name", "Another", "--json", "--url", server.url];
  const { code, stdout, stderr } = await runSkill(args, server.key);
  assert.is(code, 0);
  assert.is(stderr, "");
  assert.is(stdout.split("\n").length, 2);
  assert.is(JSON.parse(stdout).name, "demo");
});

test.run();
