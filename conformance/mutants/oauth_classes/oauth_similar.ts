/**
 * Faults in the comparison of values, at every endpoint: without case, after decoding twice, by the beginning.
 *
 * @module
 */
import { AUTHORIZE, DEVICE, INTROSPECT, PUSH, RESOURCE, REVOKE, TOKEN } from "../http_faults.ts";
import type { Mutant } from "../mutant.ts";
import { acceptSimilarValues, type Resembles } from "./similar_values.ts";

interface Comparison {
  /** The file of the vectors. */
  readonly suite: string;
  readonly words: string;
  readonly resembles: Resembles;
}

const COMPARISONS: readonly Comparison[] = [
  {
    suite: "letter_case",
    words: "without case",
    resembles: (sent, right) => sent.toLowerCase() === right.toLowerCase(),
  },
  {
    suite: "encoding",
    words: "after percent-decoding them once more",
    resembles: (sent, right) => decode(sent) === right,
  },
  {
    suite: "prefix",
    words: "by their beginning",
    resembles: (sent, right) =>
      sent.length >= right.length - 1 && right.startsWith(sent.slice(0, right.length)),
  },
];

interface Place {
  readonly path: string;
  readonly words: string;
  /** Vectors of the comparison's file that fail. */
  readonly ids: readonly string[];
  /** Vectors of other files that send such values. */
  readonly others?: readonly string[];
}

const PLACES: readonly Place[] = [
  {
    path: AUTHORIZE,
    words: "authorization requests",
    ids: ["client-id-at-authorization", "redirect-path", "redirect-host", "request-uri"],
    others: ["oauth/redirect_uri/"],
  },
  {
    path: TOKEN,
    words: "token requests",
    ids: [
      "client-id-by-basic",
      "client-id-with-code",
      "client-id-with-refresh-token",
      "client-secret-by-basic",
      "client-secret-in-body",
      "code",
      "device-code",
      "exchanged-token",
      "redirect-uri-with-code",
      "refresh-token",
    ],
    others: [
      "oauth/client_authentication/secret-with-a-letter-more",
      "oauth/code/",
      "oauth/device/code-unknown",
      "oauth/refresh/prolonged",
      "oauth/token_endpoint/plus-is-a-blank",
    ],
  },
  {
    path: RESOURCE,
    words: "requests to a resource",
    ids: ["access-token"],
    others: ["oauth/bearer/", "oauth/jwt_access_token/more"],
  },
  {
    path: INTROSPECT,
    words: "introspections",
    ids: ["introspected-token", "introspecting-client"],
    others: ["oauth/introspection/prolonged"],
  },
  { path: REVOKE, words: "revocations", ids: ["revoked-token"] },
  { path: DEVICE, words: "device authorization requests", ids: ["client-id-of-a-device"] },
  {
    path: PUSH,
    words: "pushed requests",
    ids: ["pushing-client"],
    others: ["oauth/par/redirect-uri-with-more"],
  },
];

/** The last segment of a path, as a word. */
const wordOf = (path: string): string => path.split("/").at(-1)!.replaceAll("_", "-");

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Vectors with a redirect URI in this file compare the path; a URI cut at its end has no vector at this place. */
const hasVector = (suite: string, id: string): boolean =>
  suite !== "prefix" || !/^redirect-(path|host)$/.test(id);

export const SIMILAR_VALUES: readonly Mutant[] = COMPARISONS.flatMap(({ suite, words, resembles }) =>
  PLACES.map(({ path, words: place, ids, others = [] }) => ({
    name: `oauth/${suite.replace("_", "-")}-at-${wordOf(path)}`,
    fault: `Compares the values of ${place} ${words}`,
    wrap: acceptSimilarValues(path, resembles),
    killedBy: ids.filter((id) => hasVector(suite, id)).map((id) => `oauth/${suite}/${id}`),
    mayFail: {
      "They send values that resemble the right ones": [`oauth/${suite}/`, ...others],
    },
  }))
);
