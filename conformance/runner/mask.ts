/**
 * Takes secrets out of what is shown: each becomes `‹secret n›`, the same one everywhere within a vector, so that a
 * reader still sees where a token comes back.
 *
 * @module
 */
import { urlencode } from "./compute.ts";
import { isMembers } from "./vector_file.ts";

const NAMES = "code|device_code|user_code|api_key|apikey|ticket|transaction|pin|otp|session|session_id|sid|" +
  "[\\w-]*(?:token|secret|password|passwd|verifier|assertion|csrf|xsrf|nonce_key)";
/** Of what stands in a place of secrets. */
const SHORTEST = 6;
/** Of what a target says is one. */
const SHORTEST_SAID = 3;
const LONG = 24;

/** Where secrets stand in requests, answers, reasons and command lines. */
const PLACES: readonly RegExp[] = [
  new RegExp(`"(?:${NAMES})"\\s*:\\s*"((?:[^"\\\\]|\\\\.)+)`, "gi"),
  new RegExp(`(?:^|[?&#\\s])(?:${NAMES})=([^&\\s"'<>;,]+)`, "gim"),
  /^(?:authorization|dpop|x-api-key|mcp-session-id|proxy-authorization): *(?:[A-Za-z]+ +)?(\S+)/gim,
  /^cookie: *(.+)$/gim,
  /^set-cookie: *[^=;\n]+=([^;\n]+)/gim,
  new RegExp(`name="?(?:${NAMES})"?\\s+value="?([^"\\s>]+)`, "gi"),
  /:\/\/([^/@\s"']+)@/g,
  /--?[\w-]*(?:key|token|secret|password)[= ]([^\s"']+)/gi,
];

/** A masker for one vector. */
export function maskerFor(variables: unknown): (text: string) => string {
  const known = new Set<string>();
  const labels = new Map<string, string>();
  const learn = (secret: string, shortest = SHORTEST) => {
    if (secret.length >= shortest && !secret.includes("‹")) known.add(secret);
  };
  for (const secret of secretsOf(variables)) {
    const forms = [
      secret,
      encodeURIComponent(secret),
      urlencode(secret),
      JSON.stringify(secret).slice(1, -1),
    ];
    for (const form of forms) learn(form, SHORTEST_SAID);
  }
  return (text) => {
    for (const place of PLACES) {
      for (const [whole, secret] of text.matchAll(place)) {
        if (/^cookie:/i.test(whole)) {
          for (const pair of secret!.split(/; */)) learn(pair.slice(pair.indexOf("=") + 1));
        } else learn(secret!);
      }
    }
    // Longest first, so that no secret is cut by one that it contains.
    for (const secret of [...known].sort((one, other) => other.length - one.length)) {
      const start = secret.slice(0, LONG);
      if (!text.includes(start)) continue;
      const label = labels.get(secret) ?? `‹secret ${labels.size + 1}›`;
      labels.set(secret, label);
      text = text.replaceAll(secret, label);
      // A long one may have been cut where it is shown.
      if (secret.length > LONG) {
        text = text.replaceAll(new RegExp(`${start.replace(/\W/g, "\\$&")}[\\w.~+/=%-]*`, "g"), label);
      }
    }
    return text;
  };
}

/** Texts of the target's variables under names that say secret, and all of a user but the name. */
function secretsOf(value: unknown, name = "", isSecret = false): string[] {
  // A form's field may be called "password", and the address of an endpoint is no secret.
  if (typeof value === "string") {
    return isSecret && value !== name && !/^(?:https?:\/)?\//.test(value) && !PUBLIC.has(name) ? [value] : [];
  }
  if (Array.isArray(value)) return value.flatMap((item) => secretsOf(item, name, isSecret));
  if (!isMembers(value)) return [];
  return Object.entries(value).flatMap(([member, each]) =>
    OPEN.has(member) ? [] : secretsOf(each, member, isSecret || SAYS_SECRET.test(member))
  );
}

const SAYS_SECRET = /secret|password|token|key|private|cookie|session|credential|^users$/i;
/** What a server says of itself is for everybody. */
const OPEN: ReadonlySet<string> = new Set(["metadata", "endpoints"]);
/** What is no secret even there: names of users, public parts of keys. */
const PUBLIC: ReadonlySet<string> = new Set([
  ..."id name username email sub kty crv alg use kid x y n e key_ops url page".split(" "),
]);
