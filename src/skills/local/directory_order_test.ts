import { suite } from "uvu";
import * as assert from "uvu/assert";
import { type Directory, openDirectory } from "./directory.ts";
import { type FolderEntry, FolderError, type SkillFolder } from "./folder.ts";
import { folderOf } from "../test_service.ts";

const test = suite("skills/local/directory with several folders");
const md = (name: string, description = "Use it.") =>
  `---\nname: ${name}\ndescription: ${description}\n---\nInstructions.`;

/** A folder of skills. @param links targets of links to skill folders, by name */
function folder(
  path: string,
  names: readonly string[],
  { links = {}, followLinks = false }: { links?: Record<string, string>; followLinks?: boolean } = {},
): SkillFolder {
  const files = folderOf(
    new Map(
      [...names, ...Object.keys(links)].map((name) => [`${name}/SKILL.md`, md(name, `Use it from ${path}.`)]),
    ),
    path,
  );
  const toEntry = (entry: FolderEntry): FolderEntry =>
    Object.hasOwn(links, entry.name)
      ? { ...entry, type: "link", leadsTo: "folder", realPath: links[entry.name]! }
      : { ...entry, realPath: `${path}/${entry.name}` };
  return {
    ...files,
    followLinks,
    list: async (relative) => {
      const entries = (await files.list(relative))!;
      return relative === "" ? entries.map(toEntry) : entries;
    },
  };
}

const servedPaths = async (directory: Directory) =>
  (await directory.skills()).map(({ folder, directory }) => `${folder.path}/${directory}`);
const reported = async (directory: Directory) =>
  (await directory.diagnostics()).map(({ where, problems }) =>
    `${where} ${problems.map(({ rule }) => rule)}`
  );

test("the first folder of a name is served, and further ones are reported", async () => {
  const directory = openDirectory(
    [folder("/named", ["a"]), folder("/project", ["a", "b"]), folder("/home", ["a", "b", "c"])],
    () => 0,
  );
  assert.equal(await servedPaths(directory), ["/named/a", "/project/b", "/home/c"]);
  assert.equal(await reported(directory), [
    "/project/a name-taken",
    "/home/a name-taken",
    "/home/b name-taken",
  ]);
  assert.match((await directory.diagnostics())[0]!.message, /"a".*\/named\/a/);
});

test("names that differ only in case or Unicode form are one name", async () => {
  const files = new Map([
    ["1/SKILL.md", md("Report")],
    ["2/SKILL.md", md("report")],
    ["3/SKILL.md", md("caf\u00e9")],
    ["4/SKILL.md", md("cafe\u0301")],
  ]);
  const directory = openDirectory([folderOf(files)], () => 0);
  assert.equal((await directory.skills()).map(({ name }) => name), ["Report", "caf\u00e9"]);
  const skipped = (await directory.diagnostics()).filter((each) => each.skipped);
  assert.equal(skipped.map(({ where, problems }) => [where, problems.at(-1)!.rule]), [
    ["/skills/2", "name-taken"],
    ["/skills/4", "name-taken"],
  ]);
  const [first, second] = skipped.map(({ message }) => message);
  assert.match(first!, /"Report".*\/skills\/1.*"report"/);
  assert.match(second!, /"caf\u00e9".*\/skills\/3.*"cafe\u0301"/);
});

test("a link to a skill of another folder is neither served twice nor reported", async () => {
  for (const followLinks of [false, true]) {
    const agents = folder("/p/.agents", ["a"], { followLinks });
    const claude = folder("/p/.claude", [], { links: { a: "/p/.agents/a" }, followLinks });
    for (const folders of [[agents, claude], [claude, agents]]) {
      const directory = openDirectory(folders, () => 0);
      assert.equal((await directory.skills()).map(({ name }) => name), ["a"]);
      assert.equal(await reported(directory), []);
    }
  }
});

test("a folder with two paths is served once", async () => {
  const directory = openDirectory([folder("/p", ["a"]), { ...folder("/p", ["a"]), path: "/same" }], () => 0);
  assert.equal(await servedPaths(directory), ["/p/a"]);
  assert.equal(await reported(directory), []);
});

test("a folder takes precedence over a link to it", async () => {
  const skills = folder("/p", ["zebra"], { links: { alias: "/p/zebra" }, followLinks: true });
  const directory = openDirectory([skills], () => 0);
  assert.equal(await servedPaths(directory), ["/p/zebra"]);
  assert.equal(await reported(directory), []);
});

test("a missing folder is reported unless it is optional, and others are served", async () => {
  const missing: SkillFolder = { ...folder("/missing", []), list: () => Promise.resolve(undefined) };
  const directory = openDirectory(
    [missing, { ...missing, path: "/optional", optional: true }, folder("/p", ["a"])],
    () => 0,
  );
  assert.equal(await servedPaths(directory), ["/p/a"]);
  assert.equal(await reported(directory), ["/missing folder-missing"]);
});

test("an unreadable folder is reported, and others are served", async () => {
  const closed: SkillFolder = {
    ...folder("/closed", []),
    list: () => Promise.reject(new FolderError("It cannot be read (EACCES)")),
  };
  const directory = openDirectory([closed, folder("/p", ["a"])], () => 0);
  assert.equal(await servedPaths(directory), ["/p/a"]);
  assert.equal(await reported(directory), ["/closed unreadable"]);
});

test("the first 2000 skills of a folder are served, and the excess is reported", async () => {
  const names = Array.from({ length: 2010 }, (_, i) => `s${String(i).padStart(4, "0")}`);
  const flat = folder("/p", names);
  const top = await flat.list("");
  const listed = new Map(
    top!.map((entry) => [entry.name, [{ ...entry, name: "SKILL.md", type: "file" as const }]]),
  );
  const directory = openDirectory([{
    ...flat,
    list: (path) => Promise.resolve(path === "" ? top : listed.get(path)),
  }], () => 0);
  assert.equal(await servedPaths(directory), names.slice(0, 2000).map((name) => `/p/${name}`));
  assert.equal(await reported(directory), ["/p too-many-skills"]);
});

test("at most 16 skills are read concurrently, and their order is kept", async () => {
  const skills = folder("/p", Array.from({ length: 50 }, (_, i) => `s${String(i).padStart(2, "0")}`));
  let active = 0;
  let maxActive = 0;
  const directory = openDirectory([{
    ...skills,
    async list(path) {
      if (path !== "") maxActive = Math.max(maxActive, ++active);
      await Promise.resolve();
      const entries = await skills.list(path);
      if (path !== "") active--;
      return entries;
    },
  }], () => 0);
  assert.equal(
    await servedPaths(directory),
    Array.from({ length: 50 }, (_, i) => `/p/s${String(i).padStart(2, "0")}`),
  );
  assert.is(maxActive, 16);
});

test.run();
