import { Buffer } from "node:buffer";
import { SourceMap } from "node:module";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { writeIdentityMap } from "../source_map.ts";
import { toPublicAddress, writeProvenance } from "./provenance.ts";
import { checkNewer, compareVersions } from "./versions.ts";

const test = suite("release");

test("orders versions as Semantic Versioning does, and refuses one that is not newer", () => {
  const ordered = [
    "0.9.0",
    "0.10.0",
    "1.0.0-alpha",
    "1.0.0-alpha.1",
    "1.0.0-beta.2",
    "1.0.0-beta.11",
    "1.0.0",
  ];
  for (let i = 1; i < ordered.length; i++) {
    assert.ok(compareVersions(ordered[i]!, ordered[i - 1]!) > 0, ordered[i]);
    assert.ok(compareVersions(ordered[i - 1]!, ordered[i]!) < 0, ordered[i]);
  }
  checkNewer("0.1.0", "0.1.1");
  for (const version of ["0.1.0", "0.0.9", "0.1.0-rc.1", "v0.2.0", "0.2", "0.2.0; rm"]) {
    assert.throws(() => checkNewer("0.1.0", version), version);
  }
});

test("leads from a line of a built module to the line of its source", () => {
  const source = "interface A {\n  a: number;\n}\nexport function read(a: A): number {\n  return a.a;\n}\n";
  const code = source.replace(/interface[^}]*}/, (type) => type.replace(/[^\n]/g, "")).replaceAll(
    ": number",
    "",
  );
  const map = new SourceMap(JSON.parse(writeIdentityMap(code, source, "a.ts")));
  const entry = map.findEntry(4, 9) as { originalSource: string; originalLine: number };
  assert.is(entry.originalSource, "a.ts");
  assert.is(entry.originalLine, 4);
});

test("names the packages, their commit and no user of the repository in the provenance", () => {
  const repository = toPublicAddress("https://user:secret@git.example/a/trivet.git\n");
  assert.is(repository, "https://git.example/a/trivet.git");
  assert.is(toPublicAddress("git@git.example:a/trivet.git"), undefined);
  assert.is(toPublicAddress("/srv/trivet.git"), undefined);
  const statement = writeProvenance({
    artifacts: [{ name: "trivet-1.0.0.tgz", sha256: "aa", sha512: "bb" }],
    commit: "c0ffee",
    repository,
    lockDigest: "dd",
    builder: "https://ci.example/jobs/1",
    tools: { node: "24.0.0" },
  }) as {
    _type: string;
    predicateType: string;
    subject: unknown;
    predicate: { buildDefinition: { resolvedDependencies: unknown } };
  };
  assert.is(statement._type, "https://in-toto.io/Statement/v1");
  assert.is(statement.predicateType, "https://slsa.dev/provenance/v1");
  assert.equal(statement.subject, [{ name: "trivet-1.0.0.tgz", digest: { sha256: "aa", sha512: "bb" } }]);
  assert.equal(statement.predicate.buildDefinition.resolvedDependencies, [
    { uri: "git+https://git.example/a/trivet.git", digest: { gitCommit: "c0ffee" } },
    { name: "package-lock.json", digest: { sha256: "dd" } },
  ]);
  assert.not(Buffer.from(JSON.stringify(statement)).includes("secret"));
});

test.run();
