/**
 * Masks secrets in reports. Each secret becomes `‹secret n›`, the same label everywhere within a vector, so
 * that a reader can follow a token. Tested in `mask_test.ts` and `secrets_node_test.ts`.
 *
 * @module
 */
import { formUrlencode } from "../vector/compute.ts";
import { isJsonObject } from "../vector/vector_file.ts";

// An MCP progress token is no secret: it links a notification to its request.
const SECRET_NAMES =
  "(?!progress_?token\\b)(?:code|device_code|user_code|api_key|apikey|ticket|transaction|pin|otp|" +
  "session|session_id|sid|[\\w-]*(?:token|secret|password|passwd|verifier|assertion|csrf|xsrf|nonce_key))";
/** Minimum length of a value found where a secret is expected. */
const MIN_SECRET_CHARACTERS = 6;
/** Minimum length of a secret from the target's variables. */
const MIN_NAMED_SECRET_CHARACTERS = 3;
const MIN_CUT_SECRET_CHARACTERS = 24;

/** Where secrets appear in requests, responses, reasons and command lines. */
const SECRET_PLACES: readonly RegExp[] = [
  // A negative number is an error code of JSON-RPC that a server wrote as a string.
  new RegExp(`"(?:${SECRET_NAMES})"\\s*:\\s*"(?!-\\d+")((?:[^"\\\\]|\\\\.)+)`, "gi"),
  new RegExp(`(?:^|[?&#\\s])(?:${SECRET_NAMES})=([^&\\s"'<>;,]+)`, "gim"),
  /^(?:authorization|dpop|x-api-key|mcp-session-id|proxy-authorization): *(?:[A-Za-z]+ +)?(\S+)/gim,
  /^cookie: *(.+)$/gim,
  /^set-cookie: *[^=;\n]+=([^;\n]+)/gim,
  // In HTML, other attributes may be between the name and the value, and the value may come first.
  new RegExp(`name=["']?(?:${SECRET_NAMES})["']?\\s(?:[^<>]*?\\s)?(?:value|content)=["']?([^"'\\s>]+)`, "gi"),
  new RegExp(
    `(?:value|content)=["']?([^"'\\s>]+)["']?\\s(?:[^<>]*?\\s)?name=["']?(?:${SECRET_NAMES})["'\\s/>]`,
    "gi",
  ),
  // In a URL, the part after the colon is a password; a user name alone is a secret only if it looks like a token.
  /:\/\/([^/@\s"':?#\\]*:[^/@\s"']+)@/g,
  /:\/\/[^/@\s"':?#\\]*:([^/@\s"']+)@/g,
  /:\/\/([\w~+=%-]{16,})(?::[^/@\s"']*)?@/g,
  /--?[\w-]*(?:key|token|secret|password)[= ]([^\s"']+)/gi,
];

/** Words, error codes and hosts: masked where a secret is expected, and shown elsewhere, where they mean something else. */
const PLAIN_WORD =
  /^(?:[a-z]{1,16}(?:_[a-z]{1,16})*|\d{1,3}(?:\.\d{1,3}){3}(?::\d{1,5})?|[a-z\d.-]+\.example)$/;
/** Secrets that people choose or type, and that may be plain words. */
const CHOSEN_BY_PERSON = /passw|secret|key|user_code|pin\b|otp\b|:\/\/.*:/i;

/** Creates the masker for one vector. */
export function createMasker(variables: unknown): (text: string) => string {
  const known = new Set<string>();
  const labels = new Map<string, string>();
  const learn = (secret: string, minCharacters = MIN_SECRET_CHARACTERS) => {
    if (secret.length >= minCharacters && !secret.includes("‹")) known.add(secret);
  };
  for (const secret of findVariableSecrets(variables)) {
    const forms = [
      secret,
      encodeURIComponent(secret),
      formUrlencode(secret),
      JSON.stringify(secret).slice(1, -1),
    ];
    for (const form of forms) learn(form, MIN_NAMED_SECRET_CHARACTERS);
  }
  const labelOf = (secret: string): string => {
    // A private character, because a secret may be a word of the final label.
    const label = labels.get(secret) ?? `\ue000${labels.size + 1}\ue001`;
    labels.set(secret, label);
    return label;
  };
  return (text) => {
    for (const place of SECRET_PLACES) {
      for (const found of text.matchAll(place)) {
        for (const secret of findPlaceSecrets(found)) if (!isPlain(secret, found[0])) learn(secret);
      }
    }
    // Longest first, because one secret may contain another.
    for (const secret of [...known].sort((one, other) => other.length - one.length)) {
      const start = secret.slice(0, MIN_CUT_SECRET_CHARACTERS);
      if (!text.includes(start)) continue;
      const label = labelOf(secret);
      text = text.replaceAll(secret, label);
      // A long secret may have been cut where it is shown.
      if (secret.length > MIN_CUT_SECRET_CHARACTERS) {
        text = text.replaceAll(new RegExp(`${start.replace(/\W/g, "\\$&")}[\\w.~+/=%-]*`, "g"), label);
      }
    }
    for (const place of SECRET_PLACES) {
      text = text.replaceAll(place, (...found) => {
        let whole = String(found[0]);
        for (const secret of findPlaceSecrets(found)) {
          if (secret.length < MIN_SECRET_CHARACTERS || !isPlain(secret, whole)) continue;
          const at = whole.lastIndexOf(secret);
          whole = whole.slice(0, at) + labelOf(secret) + whole.slice(at + secret.length);
        }
        return whole;
      });
    }
    return text.replaceAll(/\ue000(\d+)\ue001/g, "‹secret $1›");
  };
}

/** The secrets of one match: one text, or the values of cookies, last first. */
function findPlaceSecrets([whole, secret]: readonly unknown[]): string[] {
  if (!/^cookie:/i.test(String(whole))) return [String(secret)];
  return String(secret).split(/; */).reverse().map((pair) => pair.slice(pair.indexOf("=") + 1));
}

function isPlain(secret: string, whole: string): boolean {
  return PLAIN_WORD.test(secret) && !CHOSEN_BY_PERSON.test(whole.slice(0, whole.lastIndexOf(secret)));
}

/** Strings of the target's variables under names of secrets, and every member of a user except the name. */
function findVariableSecrets(value: unknown, name = "", isSecret = false): string[] {
  // The name of a form field ("password") and the URL of an endpoint are not secrets.
  if (typeof value === "string") {
    return isSecret && value !== name && !/^(?:https?:\/)?\//.test(value) && !PUBLIC_NAMES.has(name)
      ? [value]
      : [];
  }
  if (Array.isArray(value)) return value.flatMap((item) => findVariableSecrets(item, name, isSecret));
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([member, each]) =>
    PUBLIC_MEMBERS.has(member)
      ? []
      : findVariableSecrets(each, member, isSecret || SECRET_MEMBER.test(member))
  );
}

const SECRET_MEMBER = /secret|password|token|key|private|cookie|session|credential|^users$/i;
/** Metadata and endpoints are public. */
const PUBLIC_MEMBERS: ReadonlySet<string> = new Set(["metadata", "endpoints"]);
/** Names of users and public parts of keys are shown. */
const PUBLIC_NAMES: ReadonlySet<string> = new Set([
  ..."id name username email sub kty crv alg use kid x y n e key_ops url page".split(" "),
]);
