import { globSync, readFileSync, writeFileSync } from "node:fs";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { RECORD_KINDS, RETIRED_KINDS } from "./record_kinds.ts";

/**
 * Each kind with the type of its records, as `file#Name`; `file#Name | file#Name` for a kind with several; a word for a
 * value that is no object.
 */
const TYPES: Readonly<Record<string, string>> = {
  access_token: "oauth/records/token_record#AccessToken",
  api_key: "skills/records#ApiKey",
  approval: "oauth/approvals/approval#Approval",
  approval_memory: "oauth/approvals/approval#ApprovalMemory",
  approval_used: "true, or the digest of a task's id",
  archive_digest: "skills/archive/flat_archive#ArchiveDigest",
  attempts: "oauth/records/session_record#Attempts | oauth/records/session_record#LoginAttempts",
  audit: "bytes of observability/audit#AuditRecord | observability/audit#GroupHeader",
  audit_head: "observability/audit#AuditHead",
  blob: "skills/records#Blob",
  blob_data: "bytes",
  blob_garbage: "true",
  blob_pending: "skills/records#BlobPending",
  blob_reference: "true",
  blob_released: "true",
  cache_lifetime: "number",
  client: "oauth/records/client_record#Client",
  client_document: "oauth/clients/client_document#ClientDocument",
  code: "oauth/records/grant_record#Code",
  consent: "oauth/records/authorization_record#Consent",
  container: "skills/messages/container#Container",
  demo: "true",
  device_code: "oauth/records/grant_record#DeviceCode",
  email_verification: "oauth/records/user_record#EmailVerification",
  ended_grants: "oauth/records/grant_record#EndedGrants",
  ended_session: "true",
  format: "store/format#StoreFormat",
  grant: "oauth/records/grant_record#Grant",
  health: "true",
  held_tool: "gateway/policy/held/held_tools#HeldTool",
  invitation: "oauth/records/user_record#Invitation",
  linked_account: "oauth/records/provider_record#LinkedAccount",
  logout_notice: "oauth/records/session_record#LogoutNotice",
  mcp:
    "mcp/session/session#Session | mcp/tasks/task_store#StoredTask | mcp/session/event_log#LoggedEvent | mcp/definition/changes#Change",
  mcp_change_count: "number",
  mcp_lease: "mcp/session/event_log#Lease",
  mcp_question: "owner of the call, or true of earlier versions",
  mcp_session_end: "true",
  mcp_task_lease: "mcp/tasks/task_store#Lease",
  migration: "store/copy#Mark",
  passkey: "user id",
  password_reset: "oauth/records/user_record#PasswordReset",
  pending_login: "oauth/factors/pending_login#PendingLogin",
  profile: "oauth/records/user_record#Profile",
  provider: "oauth/records/provider_record#StoredProvider",
  provider_tokens: "oauth/records/provider_record#StoredProviderTokens",
  pushed_request: "oauth/records/authorization_record#PushedRequest",
  rate_limit: "http/network/sliding_sum#Slot",
  revocations: "oauth/records/grant_record#Revocations",
  server_secret: "bytes",
  server_secrets: "server_secret/read_secrets#SecretRecord",
  session: "oauth/records/session_record#Session",
  session_client: "oauth/records/session_record#SessionClient",
  sign_up: "oauth/records/user_record#PendingSignUp",
  signed_out: "number",
  signing_key: "oauth/records/token_record#SigningKey",
  skill: "skills/records#Skill",
  skill_name: "nothing",
  skill_title: "nothing",
  skill_title_claim: "skill id",
  skill_usage: "skills/records#SkillUsage",
  skill_version: "skills/records#SkillVersion",
  skill_version_number: "version id",
  skill_version_summary: "skills/records#VersionSummary",
  tool_approval: "gateway/policy/held/held_tools#ToolApproval",
  tool_list: "number",
  transaction: "oauth/records/authorization_record#Transaction",
  upgrade: "store/upgrade/run_upgrade#Cursor",
  upstream: "gateway/stored/stored_upstream#StoredUpstream",
  upstream_attempt: "oauth/connection_records#UpstreamAttempt",
  upstream_client: "oauth/connection_records#UpstreamClientRecord",
  upstream_connection: "oauth/connection_records#UpstreamConnection",
  upstream_revocation: "oauth/connection_records#UpstreamConnection",
  used: "true",
  user: "oauth/records/user_record#User",
  user_code: "digest",
  user_factors: "oauth/factors/factor_record#UserFactors",
  user_grant: "true",
  user_identity: "oauth/records/provider_record#UserIdentity",
  user_session: "true",
  username: "user id",
  verified_email: "user id",
};

const test = suite("store/upgrade: kinds of records");
const root = fileURLToPath(new URL("../../", import.meta.url));
const SHAPES = fileURLToPath(new URL("record_shapes.txt", import.meta.url));

/** The sources, without tests. */
function sources(): Map<string, string> {
  const files = globSync("**/*.ts", { cwd: root }).map((file) => file.replaceAll("\\", "/")).filter((file) =>
    !/(^|\/)test_|_test\.ts$|^store\/contract\/|sqlite\/writer_for_kill\.ts$/.test(file)
  );
  return new Map(files.map((file) => [file.replace(/\.ts$/, ""), readFileSync(root + file, "utf8")]));
}

/** The first words of the keys that the sources declare. */
function declaredKinds(texts: Iterable<string>): Set<string> {
  const found = new Set<string>();
  const declaration =
    /(?:\bKey\b[^;]{0,40}?(?:=>|=|\{\s*return)|Key = \([^()]*\) =>|_KEY =)\s*\[\s*"([a-z_]+)",?/g;
  for (const text of texts) for (const [, kind] of text.matchAll(declaration)) found.add(kind!);
  return found;
}

/** The declaration of a type in a file. */
function declarationOf(name: string, text: string): string | undefined {
  return new RegExp(
    `^(?:export )?(?:interface|type) ${name}\\b(?:[^{;]*;\\n|[^]*?\\n\\}?;?(?=\\n))`,
    "m",
  ).exec(text)?.[0].replace(/^export /, "").replace(/\s+/g, " ").trim();
}

/**
 * The declaration of a type and of those that it names, in its file and the files of its folder that it imports, without
 * comments and white space.
 */
function shapeOf(type: string, files: ReadonlyMap<string, string>): string {
  const [file, name] = type.split("#") as [string, string];
  const shapes: string[] = [];
  const pending: [file: string, name: string][] = [[file, name]];
  for (const [from, each] of pending) {
    const text = files.get(from)?.replace(/\/\*[^]*?\*\/|\/\/[^\n]*/g, "");
    assert.ok(text, `${from}.ts is there`);
    const shape = declarationOf(each, text);
    if (shape === undefined) {
      assert.is.not(each, name, `${file}.ts declares ${name}`);
      continue;
    }
    shapes.push(shape);
    for (const [word] of shape.matchAll(/\b[A-Z]\w+/g)) {
      if (pending.some(([, known]) => known === word)) continue;
      const imported = new RegExp(`import [^;]*?\\b${word}\\b[^;]*? from "\\./([a-z_]+)\\.ts"`).exec(text);
      const declaring = imported ? from.replace(/[^/]*$/, imported[1]!) : from;
      pending.push([declaring, word]);
    }
  }
  return shapes.join("\n");
}

/** All kinds with their versions and shapes, as `record_shapes.txt` has them. */
function describeKinds(files: ReadonlyMap<string, string>): string {
  return Object.entries(RECORD_KINDS).map(([kind, version]) => {
    const types = TYPES[kind]!.split(" | ");
    const shapes = types.map((type) =>
      type.includes("#") ? shapeOf(type.replace(/^bytes of /, ""), files) : type
    );
    return `## ${kind} ${version}\n${shapes.join("\n")}\n`;
  }).join("\n");
}

test("every kind that is declared in the sources is in the table, and has a type here", () => {
  const declared = declaredKinds(sources().values());
  assert.ok(declared.size > 50, String(declared.size));
  for (const kind of declared) assert.ok(RECORD_KINDS[kind], `"${kind}" is missing in record_kinds.ts`);
  assert.equal(Object.keys(TYPES).sort(), Object.keys(RECORD_KINDS).sort());
  for (const kind of Object.keys(RETIRED_KINDS)) {
    assert.is(RECORD_KINDS[kind], undefined, `${kind} is retired`);
  }
  assert.equal(
    declaredKinds(['const key = (id: string): Key => ["forgotten", id];']),
    new Set(["forgotten"]),
  );
});

test("the README has a row for every kind of the table", () => {
  const rows = readFileSync(root + "store/README.md", "utf8").matchAll(/^\| `([a-z_]+)[,`]/gm);
  const described = new Set([...rows].map(([, kind]) => kind!));
  for (const kind of Object.keys(RECORD_KINDS)) {
    assert.ok(described.has(kind), `"${kind}" is missing in README.md`);
  }
});

test("a kind whose form changed has a new version, or its new form was accepted as compatible", () => {
  const current = describeKinds(sources());
  if (process.env.TRIVET_ACCEPT_SHAPES) writeFileSync(SHAPES, current);
  const accepted = readFileSync(SHAPES, "utf8");
  const split = (text: string) =>
    new Map(
      text.split(/^## /m).slice(1).map((part) => {
        const [, name, rest] = /^([^\n]+)\n([^]*)$/.exec(part)!;
        return [name!, rest!.trim()];
      }),
    );
  const before = split(accepted);
  for (const [name, shape] of split(current)) {
    assert.is(
      before.get(name),
      shape,
      `The form of "${name}" records changed. If this version or the one before would misread them, raise the version in ` +
        `record_kinds.ts and add a step to upgrade_steps.ts. Then accept: TRIVET_ACCEPT_SHAPES=1, and run this test`,
    );
  }
  assert.is(accepted, current);
});

test.run();
