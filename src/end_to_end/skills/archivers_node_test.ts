import { execFile, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { skillMarkdown, type SkillsServer, startSkills } from "./test_skills_server.ts";

const test = suite("archives of common tools");
let server: SkillsServer;
let folder: string;
let archives = 0;
test.before(async () => {
  server = await startSkills();
  folder = mkdtempSync(join(tmpdir(), "trivet-archivers-"));
  mkdirSync(join(folder, "demo/scripts"), { recursive: true });
  writeFileSync(join(folder, "demo/SKILL.md"), skillMarkdown("demo"));
  writeFileSync(join(folder, "demo/scripts/run.py"), "print('hello')\n".repeat(100));
  writeFileSync(join(folder, "demo/café.md"), "x");
  writeFileSync(join(folder, "demo/empty"), "");
  mkdirSync(join(folder, "linked"));
  writeFileSync(join(folder, "linked/SKILL.md"), skillMarkdown("linked"));
  symlinkSync("/etc/passwd", join(folder, "linked/passwd"));
});
test.after(async () => {
  rmSync(folder, { recursive: true, force: true });
  await server.close();
});

const PYTHON = (open: string, write: string): readonly string[] => [
  "python3",
  "-c",
  `
import io, os, sys, zipfile
class Pipe(io.RawIOBase):
    def __init__(self, file): self.file = file
    def writable(self): return True
    def write(self, data): return self.file.write(data)
names = ["demo/SKILL.md", "demo/scripts/run.py", "demo/café.md", "demo/empty"]
with open(sys.argv[1], "wb") as file, zipfile.ZipFile(${open}) as archive:
    for name in names:
        ${write}
`,
];
const WRITE = "archive.write(name)";

interface ArchiveCase {
  readonly what: string;
  /** The command, without the name of the archive at its end. */
  readonly command?: readonly string[];
  /** A shell command with the name of the archive as `$0`. */
  readonly shell?: string;
  /** The rule that refuses the archive; without one it is accepted. */
  readonly rule?: string;
}

for (
  const { what, command, shell, rule } of [
    { what: "zip -r", shell: "zip -qr $0 demo" },
    { what: "zip without folders, stored", shell: "zip -qrD0 $0 demo" },
    { what: "zip from inside the folder", shell: "cd demo && zip -qr $0 ." },
    { what: "zip to a pipe", shell: "zip -qr - demo | cat > $0" },
    { what: "zip with forced descriptors", shell: "zip -qr -fd $0 demo" },
    { what: "zip with an archive comment", shell: "echo comment | zip -qrz $0 demo" },
    { what: "zip with one file replaced", shell: "zip -qr $0 demo && zip -q $0 demo/scripts/run.py" },
    { what: "zip with one file deleted", shell: "zip -qr $0 demo && zip -qd $0 demo/empty" },
    { what: "zip with a symbolic link", shell: "zip -qry $0 linked", rule: "archive-link" },
    { what: "zip with a password", shell: "zip -qr -P secret $0 demo", rule: "archive-encrypted" },
    { what: "zip with forced Zip64", shell: "zip -qr -fz $0 demo", rule: "archive-zip64" },
    {
      what: "zip after a shell script",
      shell: "zip -qr $0 demo && (echo '#!/bin/sh'; cat $0) > $0.x && mv $0.x $0",
      rule: "archive-start",
    },
    { what: "Python's zipfile", command: PYTHON("file, 'w', zipfile.ZIP_DEFLATED", WRITE) },
    { what: "Python's zipfile, stored", command: PYTHON("file, 'w'", WRITE) },
    { what: "Python's zipfile to a pipe", command: PYTHON("Pipe(file), 'w', zipfile.ZIP_DEFLATED", WRITE) },
    {
      what: "Python's zipfile with writestr",
      command: PYTHON("file, 'w'", "archive.writestr(name, open(name, 'rb').read())"),
    },
    {
      what: "Python's zipfile on Windows, with backslashes",
      command: PYTHON(
        "file, 'w'",
        "i = zipfile.ZipInfo('x'); i.filename = name.replace('/', chr(92)); archive.writestr(i, open(name, 'rb').read())",
      ),
    },
    {
      what: "Python's zipfile with one name twice",
      command: PYTHON("file, 'w'", "archive.write(name); name == names[1] and archive.write(name)"),
      rule: "path-twice",
    },
    {
      what: "Python's zipfile with bzip2",
      command: PYTHON("file, 'w', zipfile.ZIP_BZIP2", WRITE),
      rule: "archive-method",
    },
    {
      what: "Python's zipfile with forced Zip64",
      command: PYTHON(
        "file, 'w'",
        "entry = archive.open(name, 'w', force_zip64=True); entry.write(open(name, 'rb').read()); entry.close()",
      ),
      rule: "archive-zip64",
    },
    { what: "jar", shell: "jar -cMf $0 demo" },
    { what: "bsdtar", shell: "bsdtar --format zip -cf $0 demo" },
    { what: "7z", shell: "7z a -bd -tzip $0 demo > /dev/null" },
  ] as readonly ArchiveCase[]
) {
  const [tool, ...rest] = shell?.replace("cd demo && ", "").split(" ") ?? command!;
  const isInstalled = spawnSync("sh", ["-c", `command -v ${tool === "echo" ? "zip" : tool}`]).status === 0;
  if (!isInstalled) {
    test.skip(`${what} is not installed`);
    continue;
  }
  test(`an archive of ${what} is ${rule ? `refused by ${rule}` : "accepted"}`, async () => {
    const file = join(folder, `archive-${++archives}.zip`);
    const args = shell === undefined ? [...rest, file] : ["-c", shell, file];
    // Not spawnSync: while the event loop stands still, the server closes the idle connection that the next request takes.
    await promisify(execFile)(shell === undefined ? tool! : "sh", args, { cwd: folder });
    const body = new FormData();
    body.append("files[]", new Blob([readFileSync(file)]), "demo.zip");
    const headers = { "x-api-key": server.key };
    const response = await fetch(`${server.url}/v1/skills`, { method: "POST", headers, body });
    const { id, error } = await response.json();
    if (rule !== undefined) {
      assert.is(response.status, 400);
      assert.is(error.details.error_code, rule);
      return;
    }
    assert.is(response.status, 200, JSON.stringify(error));
    assert.match(id, /^skill_/);
  });
}

test.run();
