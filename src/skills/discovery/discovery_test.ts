import { SERVER_FAILED, STORE_UNAVAILABLE } from "../../http/response.ts";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { StoreUnavailableError } from "../../store/store.ts";
import { digestOf } from "../content_digest.ts";
import { newDiscovery, skillMd } from "./test_discovery.ts";
import { readZip } from "../archive/zip_reader.ts";

const test = suite("skills/discovery");

const CURRENT = "/.well-known/agent-skills/";
const OLDER = "/.well-known/skills/";
const FILES = {
  "wrangler/SKILL.md": skillMd("wrangler", "Deploys."),
  "wrangler/references/a b.md": "# A b\n",
  "wrangler/run.sh": "#!/bin/sh\n",
  "review/SKILL.md": skillMd("review", "Reviews."),
};

const bytesOf = async (response: Response): Promise<Uint8Array> =>
  new Uint8Array(await response.arrayBuffer());

test("the index of v0.2.0 lists one artifact per skill, with the digest of the served bytes", async () => {
  const server = await newDiscovery({ files: FILES });
  const response = await server.get(CURRENT + "index.json");
  assert.is(response.status, 200);
  assert.is(response.headers.get("content-type"), "application/json");
  const index = await response.json();
  const { skills } = index;
  assert.equal(index, {
    $schema: "https://schemas.agentskills.io/discovery/0.2.0/schema.json",
    skills: [
      {
        name: "review",
        type: "skill-md",
        description: "Reviews.",
        url: "review/SKILL.md",
        digest: await digestOf(new TextEncoder().encode(FILES["review/SKILL.md"])),
      },
      {
        name: "wrangler",
        type: "archive",
        description: "Deploys.",
        url: "wrangler.zip",
        digest: skills[1].digest,
      },
    ],
  });
  for (const [at, type] of [[0, "text/markdown; charset=utf-8"], [1, "application/zip"]] as const) {
    const artifact = await server.get(CURRENT + skills[at].url);
    assert.is(artifact.headers.get("content-type"), type);
    const bytes = await bytesOf(artifact);
    assert.is(artifact.headers.get("content-length"), String(bytes.length));
    assert.is(await digestOf(bytes), skills[at].digest);
  }
  const archive = await readZip(await bytesOf(await server.get(CURRENT + "wrangler.zip")), 1000);
  assert.equal(archive.map(({ path, bytes }) => ["wrangler/" + path, new TextDecoder().decode(bytes)]), [
    ["wrangler/SKILL.md", FILES["wrangler/SKILL.md"]],
    ["wrangler/references/a b.md", FILES["wrangler/references/a b.md"]],
    ["wrangler/run.sh", FILES["wrangler/run.sh"]],
  ]);
});

test("the index of v0.1 lists files, SKILL.md first, and each is served unchanged", async () => {
  const server = await newDiscovery({ files: { ...FILES, "wrangler/A.txt": "before S" } });
  const index = await server.index("skills");
  assert.equal(index, {
    skills: [
      { name: "review", description: "Reviews.", files: ["SKILL.md"] },
      {
        name: "wrangler",
        description: "Deploys.",
        files: ["SKILL.md", "A.txt", "references/a b.md", "run.sh"],
      },
    ],
  });
  for (const { name, files = [] } of index.skills) {
    for (const path of files) {
      const response = await server.get(`${OLDER}${name}/${path}`);
      assert.is(response.status, 200, path);
      assert.is(await response.text(), server.local.get(`${name}/${path}`), path);
    }
  }
  // Browsers must not run a script that a link leads to.
  const script = await server.get(OLDER + "wrangler/run.sh");
  assert.is(script.headers.get("content-type"), "text/plain");
});

test("every response allows CORS, has an ETag and forbids scripts", async () => {
  const server = await newDiscovery({ files: FILES });
  for (const path of ["index.json", "wrangler.zip", "wrangler/SKILL.md", "wrangler/references/a%20b.md"]) {
    const { status, headers } = await server.get(CURRENT + path);
    assert.is(status, 200);
    const tag = headers.get("etag")!;
    assert.match(tag, /^"[\w:-]+"$/);
    assert.equal(
      ["access-control-allow-origin", "cache-control", "x-content-type-options", "content-security-policy"]
        .map((name) => headers.get(name)),
      ["*", "public, no-cache", "nosniff", "default-src 'none'; sandbox"],
    );
    for (const field of [tag, `W/${tag}`, `"x", ${tag}`, "*"]) {
      const again = await server.get(CURRENT + path, { headers: { "if-none-match": field } });
      assert.is(again.status, 304);
      assert.is(again.headers.get("etag"), tag);
      assert.is(again.headers.get("access-control-allow-origin"), "*");
      assert.is(await again.text(), "");
    }
    const other = await server.get(CURRENT + path, { headers: { "if-none-match": '"other"' } });
    assert.is(other.status, 200);
    const head = await server.get(CURRENT + path, { method: "HEAD" });
    assert.equal([...head.headers], [...other.headers]);
    assert.is(head.body, null);
  }
});

test("other methods get 405 with Allow, and preflights are answered", async () => {
  const server = await newDiscovery({ files: FILES });
  const options = await server.get(CURRENT + "index.json", { method: "OPTIONS" });
  assert.equal([options.status, options.headers.get("allow")], [204, "GET, HEAD, OPTIONS"]);
  const preflight = await server.get(CURRENT + "index.json", {
    method: "OPTIONS",
    headers: {
      "access-control-request-method": "GET",
      "access-control-request-headers": "x-skills-update-check",
    },
  });
  assert.is(preflight.status, 204);
  assert.is(preflight.headers.get("access-control-allow-headers"), "x-skills-update-check");
  for (const method of ["POST", "PUT", "DELETE"]) {
    const response = await server.get(CURRENT + "index.json", { method });
    assert.equal([response.status, response.headers.get("allow")], [405, "GET, HEAD, OPTIONS"]);
  }
});

test("only exact paths of the index are served, and other paths get 404", async () => {
  const server = await newDiscovery({
    files: {
      ...FILES,
      "review-evil/notes.txt": "secret",
      "secret.txt": "secret",
      "wrangler/deep/a.txt": "x",
    },
  });
  const bad = [
    "",
    "wrangler",
    "wrangler/",
    "wrangler//SKILL.md",
    "wrangler/./%2e/SKILL.md/",
    "wrangler/%2e%2e%2fsecret.txt",
    "wrangler/%2e%2e%2freview/SKILL.md",
    "wrangler/..%2freview%2fSKILL.md",
    "wrangler/..%5csecret.txt",
    "wrangler/..%5c..%5csecret.txt",
    "wrangler/deep%2fa.txt",
    "wrangler/SKILL.md%00",
    "wrangler/%00",
    "wrangler/SKILL.md%ff",
    "wrangler/%c0%ae%c0%ae/secret.txt",
    "wrangler/skill.md",
    "wrangler/deep",
    "wrangler/%2fetc%2fpasswd",
    "review-evil/notes.txt",
    "review-evil/SKILL.md",
    "%2e%2e%2fsecret.txt",
    "..%5csecret.txt",
    "secret.txt",
    "wrangler%2fSKILL.md",
    "wrangler.zip/SKILL.md",
    "Wrangler/SKILL.md",
    "wrangler.ZIP",
    "nothing.zip",
    "nothing/SKILL.md",
    "__proto__/SKILL.md",
    "constructor.zip",
  ];
  const unknown = await (await server.get(CURRENT + "unknown.zip")).text();
  assert.not.equal(unknown, "");
  for (const place of [CURRENT, OLDER]) {
    for (const path of bad) {
      const response = await server.get(place + path);
      assert.is(response.status, 404, path);
      assert.is(await response.text(), unknown);
      assert.is(response.headers.get("cache-control"), "no-store");
    }
  }
  // The URL standard resolves dot segments before the request.
  assert.is((await server.get(CURRENT + "wrangler/../review/SKILL.md")).status, 200);
  assert.not(server.discovery.covers(new Request("http://h/.well-known/skills-evil/index.json")));
  assert.not(server.discovery.covers(new Request("http://h/.well-known/agent-skills")));
});

test("names with a percent sign are found in the URLs of both versions", async () => {
  const odd = { "100%.txt": "hundred", "a%20b.txt": "literal", "ü%41.md": "mixed" };
  const files = {
    "odd/SKILL.md": skillMd("odd"),
    ...Object.fromEntries(Object.entries(odd).map(([k, v]) => ["odd/" + k, v])),
  };
  const server = await newDiscovery({ files });
  for (const [path, content] of Object.entries(odd)) {
    const encoded = await server.get(CURRENT + "odd/" + encodeURIComponent(path));
    assert.is(await encoded.text(), content, path);
  }
  assert.is(await (await server.get(OLDER + "odd/100%.txt")).text(), "hundred");
  assert.is(await (await server.get(OLDER + "odd/a%20b.txt")).text(), "literal");
});

test("with a base path the index is below it and not at the root", async () => {
  const server = await newDiscovery({ files: FILES, base: "/tenant" });
  assert.equal(server.discovery.mounts, [CURRENT, OLDER]);
  assert.equal((await server.index()).skills.map(({ name }) => name), ["review", "wrangler"]);
  assert.is((await server.get("/tenant" + CURRENT + "wrangler.zip")).status, 200);
  assert.is((await server.get(CURRENT + "index.json")).status, 404);
  assert.is((await server.get("/tenant-evil" + CURRENT + "index.json")).status, 404);
});

test("an unavailable store gets 503 with retry-after, and a fault 500 without details", async () => {
  let failure: Error | undefined;
  const server = await newDiscovery({
    files: FILES,
    workspaces: ["default"],
    onRead() {
      if (failure) throw failure;
    },
  });
  failure = new StoreUnavailableError("10.0.0.1 refused", { retryAfter: 3 });
  const unavailable = await server.get(CURRENT + "index.json");
  assert.equal([unavailable.status, unavailable.headers.get("retry-after")], [503, "3"]);
  assert.is(await unavailable.text(), STORE_UNAVAILABLE);
  failure = new Error("secret");
  server.advance(1000);
  const fault = await server.get(CURRENT + "index.json");
  assert.equal([fault.status, await fault.text()], [500, SERVER_FAILED]);
  assert.equal(server.events.map(({ type }) => type), ["store_unavailable", "fault"]);
  // Local skills do not need the store.
  assert.is((await server.get(CURRENT + "review/SKILL.md")).status, 200);
  failure = undefined;
  server.advance(1000);
  assert.is((await server.get(CURRENT + "index.json")).status, 200);
});

test.run();
