import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { spawn } from "node:child_process";
import { join } from "node:path";
import process from "node:process";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { type TestEntry, zip } from "../../skills/test_service.ts";
import { writeFolder } from "../../runtime/cli/atomic_write.ts";
import {
  type Answering,
  apiSkill,
  refusal,
  startApi,
  type TestApiServer,
} from "../skills_clients/test_api_server.ts";
import { CLI, runtimeCommand, temporaryFolder } from "../test_process.ts";
import { runSkill, writeSkill } from "./test_skill_command.ts";
import { skillMarkdown } from "../skills/test_skills_server.ts";

const test = suite("trivet skill: failed transfers");
const folder = temporaryFolder();
let folders = 0;
const newFolder = (): string => {
  const path = join(folder.path, String(++folders));
  mkdirSync(path);
  return path;
};
test.after(() => folder.remove());

/** Runs a test against a server with these responses. */
async function withApi(answering: Answering, work: (server: TestApiServer) => Promise<void>): Promise<void> {
  const server = await startApi(answering);
  try {
    await work(server);
  } finally {
    await server.close();
  }
}

/** Runs a test against a server with one skill of this name, whose content `write` sends. */
function withContent(
  name: string,
  write: (response: Parameters<Answering>[1]) => void,
  work: (server: TestApiServer) => Promise<void>,
): Promise<void> {
  const { skill, version } = apiSkill("skill_1", name);
  return withApi(({ path }, response) => {
    if (path.endsWith("/content")) return write(response);
    return [200, path.includes("/versions/") ? version : skill];
  }, work);
}

const file = (name: string, content: string = "x"): TestEntry => ({ name, content });
const MARKDOWN = file("demo/SKILL.md", skillMarkdown("demo"));

/** Hostile archives, and what the error contains. */
const HOSTILE: readonly (readonly [what: string, entries: readonly TestEntry[], message: RegExp])[] = [
  [
    "a path with ..",
    [MARKDOWN, file("demo/../../evil")],
    /\[path-dots\]/,
  ],
  ["an absolute path", [MARKDOWN, file("/tmp/evil")], /must be relative/],
  ["a path with a drive letter", [MARKDOWN, file("C:evil")], /must be relative/],
  ["a path with .. and backslashes", [MARKDOWN, file("demo\\..\\..\\evil")], /\[path-dots\]/],
  [
    "a symbolic link",
    [MARKDOWN, { ...file("demo/evil", "/etc/passwd"), mode: 0o120777 }],
    /Cannot read the archive/,
  ],
  ["two paths that differ in case only", [MARKDOWN, file("demo/a"), file("demo/A")], /on some systems/],
  [
    "a path that is a file and a folder",
    [MARKDOWN, file("demo/a"), file("demo/a/b")],
    /\[path-[\w-]+\]/,
  ],
  ["a second top-level folder", [MARKDOWN, file("evil/a")], /"demo".*\[[\w-]+\]/],
  ["no SKILL.md", [file("demo/a")], /SKILL\.md is missing/],
  ["a wrong checksum", [MARKDOWN, { ...file("demo/a"), crc: 1 }], /its checksum differs/],
];

for (const [what, entries, message] of HOSTILE) {
  test(`pull does not unpack an archive with ${what}`, async () => {
    const bytes = await zip(entries);
    const output = newFolder();
    await withContent("demo", (response) => void response.end(bytes), async ({ url }) => {
      const { code, stdout, stderr } = await runSkill(["pull", "skill_1", "--url", url, "--output", output]);
      assert.is(code, 1);
      assert.is(stdout, "");
      assert.match(stderr, message);
    });
    assert.equal(readdirSync(output), []);
    assert.not.ok(existsSync(join(folder.path, "evil")));
  });
}

test("pull creates no folder with an invalid or hidden name", async () => {
  for (
    const name of [
      "../evil",
      "/tmp/evil",
      "a/b",
      "a\\b",
      ".ssh",
      "..",
      "con",
      "a\u0000b",
      "x\u202ey",
      "a".repeat(300),
    ]
  ) {
    const output = newFolder();
    await withContent(name, (response) => void response.end(), async ({ url, seen }) => {
      const { code, stderr } = await runSkill(["pull", "skill_1", "--url", url, "--output", output]);
      assert.is(code, 1);
      assert.match(stderr, /folder/);
      assert.not.ok(seen.some(({ path }) => path.endsWith("/content")));
    });
    assert.equal(readdirSync(output), []);
  }
});

test("pull neither unpacks nor stores a response that is not an archive", async () => {
  const output = newFolder();
  for (const content of ["<html>", "PK", ""]) {
    await withContent("demo", (response) => void response.end(content), async ({ url }) => {
      for (const more of [[], ["--zip"]]) {
        const { code, stderr } = await runSkill([
          "pull",
          "skill_1",
          "--url",
          url,
          "--output",
          output,
          ...more,
        ]);
        assert.is(code, 1);
        assert.match(stderr, "zip");
      }
    });
  }
  assert.equal(readdirSync(output), []);
});

test("an interrupted download leaves no partial files and keeps existing ones", async () => {
  const bytes = await zip([MARKDOWN, { name: "demo/large.bin", content: new Uint8Array(300_000) }]);
  const output = newFolder();
  writeSkill(output, "demo", { "mine.txt": "mine" });
  writeFileSync(join(output, "demo.zip"), "before");
  await withContent("demo", (response) => {
    response.writeHead(200, { "content-length": String(bytes.length) });
    response.write(bytes.subarray(0, 100_000), () => setTimeout(() => response.destroy(), 50));
  }, async ({ url }) => {
    for (const more of [[], ["--zip"]]) {
      const args = ["pull", "skill_1", "--url", url, "--output", output, "--force", ...more];
      const { code, stderr } = await runSkill(args);
      assert.is(code, 1);
      assert.match(stderr, /^trivet skill: .*127\.0\.0\.1:\d+/);
    }
  });
  assert.equal(readdirSync(output).sort(), ["demo", "demo.zip"]);
  assert.equal(readdirSync(join(output, "demo")).sort(), ["SKILL.md", "mine.txt"]);
  assert.is(readFileSync(join(output, "demo.zip"), "utf8"), "before");
});

test("pull overwrites only a skill, and only with --force", async () => {
  const bytes = await zip([MARKDOWN, file("demo/new.txt", "new")]);
  await withContent("demo", (response) => void response.end(bytes), async ({ url, seen }) => {
    const pull = (output: string, ...more: string[]) =>
      runSkill(["pull", "skill_1", "--url", url, "--output", output, ...more]);
    const taken = newFolder();
    writeSkill(taken, "demo", { "old.txt": "old" });
    assert.match((await pull(taken)).stderr, /demo".*--force/);
    const other = newFolder();
    mkdirSync(join(other, "demo"));
    writeFileSync(join(other, "demo/thesis.txt"), "mine");
    assert.match((await pull(other, "--force")).stderr, /demo".*not a skill/);
    const plain = newFolder();
    writeFileSync(join(plain, "demo"), "mine");
    assert.match((await pull(plain, "--force")).stderr, /demo".*not a folder/);
    const link = newFolder();
    symlinkSync(join(taken, "demo"), join(link, "demo"));
    assert.match((await pull(link, "--force")).stderr, /demo".*not a folder/);
    // pull checks the target before it downloads.
    assert.not.ok(seen.some(({ path }) => path.endsWith("/content")));
    assert.equal(readdirSync(join(taken, "demo")).sort(), ["SKILL.md", "old.txt"]);

    assert.is((await pull(taken, "--force")).code, 0);
    assert.equal(readdirSync(taken), ["demo"]);
    assert.equal(readdirSync(join(taken, "demo")).sort(), ["SKILL.md", "new.txt"]);
    const empty = newFolder();
    mkdirSync(join(empty, "demo"));
    assert.is((await pull(empty)).code, 0);
    assert.is((await pull(join(newFolder(), "created/by/pull"))).code, 0);
    // Pulled files are not executable.
    assert.is(lstatSync(join(taken, "demo/new.txt")).mode & 0o111, 0);
  });
});

test("writeFolder keeps the existing folder when a file cannot be written", async () => {
  const parent = newFolder();
  const target = writeSkill(parent, "demo");
  const bytes = new Uint8Array(1);
  const { signal } = new AbortController();
  for (const path of ["a/b", "../evil", "../../evil"]) {
    let error: unknown;
    await writeFolder(target, [{ path: "a", bytes }, { path, bytes }], true, signal).catch((e) => error = e);
    assert.instance(error, Error);
    assert.equal(readdirSync(parent), ["demo"]);
    assert.equal(readdirSync(target), ["SKILL.md"]);
  }
});

for (const [kind, more] of [["a folder", []], ["an archive", ["--zip"]]] as const) {
  test(`SIGINT during the pull of ${kind} leaves no files; exit code 130`, async () => {
    const output = newFolder();
    let begun: () => void;
    const receiving = new Promise<void>((resolve) => begun = resolve);
    await withContent("demo", (response) => {
      response.writeHead(200, { "content-length": "1000000" });
      response.write("PK\x03\x04" + "x".repeat(100_000), () => begun());
    }, async ({ url }) => {
      const [command, before] = runtimeCommand();
      const args = ["skill", "pull", "skill_1", "--url", url, "--output", output, ...more];
      const child = spawn(command, [...before, CLI, ...args], { stdio: ["ignore", "pipe", "pipe"] });
      let stderr = "";
      child.stderr.on("data", (chunk) => stderr += chunk);
      const ended = new Promise<number | null>((resolve) => child.on("close", resolve));
      await receiving;
      // An archive is written as it arrives, a folder only after the whole archive has arrived.
      while (kind === "an archive" && readdirSync(output).length === 0 && child.exitCode === null) {
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      process.kill(child.pid!, "SIGINT");
      assert.is(await ended, 130);
      assert.is(stderr, "trivet skill: interrupted\n");
    });
    assert.equal(readdirSync(output), []);
  });
}

test("a broken connection during an upload reports whether the upload was complete", async () => {
  const parent = newFolder();
  const source = writeSkill(parent, "demo", { "large.bin": new Uint8Array(20_000_000) });
  await withApi(({ method }, __, message) => {
    if (method === "GET") return [200, { data: [] }];
    message.once("data", () => message.socket.destroy());
  }, async ({ url }) => {
    const { code, stderr } = await runSkill(["add", source, "--url", url]);
    assert.is(code, 1);
    assert.match(stderr, /^trivet skill: .*127\.0\.0\.1:\d+/);
    assert.match(stderr, "not complete");
  });
  const small = writeSkill(parent, "small");
  await withApi(({ method }, __, message) => {
    if (method === "GET") return [200, { data: [] }];
    message.on("end", () => message.socket.destroy()).resume();
  }, async ({ url, seen }) => {
    const { stderr } = await runSkill(["add", small, "--url", url]);
    assert.match(stderr, /was complete.*trivet skill list/);
    // A retry could create the skill twice.
    assert.is(seen.filter(({ method }) => method === "POST").length, 1);
  });
});

test("an upload is not repeated after 503, and the message says that it may have been added", async () => {
  const source = writeSkill(newFolder(), "demo");
  for (
    const [status, requests] of [
      [503, 1],
      [529, 3],
    ] as const
  ) {
    const busy = refusal(status, "overloaded_error", "Busy", { "retry-after": "0" });
    await withApi(({ method }) => method === "GET" ? [200, { data: [] }] : busy, async ({ url, seen }) => {
      const { code, stderr } = await runSkill(["add", source, "--url", url]);
      assert.equal([code, seen.filter(({ method }) => method === "POST").length], [1, requests]);
      assert.match(stderr, "Busy");
      assert.is(stderr.includes("trivet skill list"), status === 503, stderr);
    });
  }
});

test.run();
