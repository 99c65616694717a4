/**
 * Faults of the login page: where it sends the browser, and what other sites may do with it.
 *
 * @module
 */
import {
  faultyAnswers,
  faultyRedirects,
  faultyRequests,
  LOGIN,
  withFields,
  withRequestFields,
} from "../message.ts";
import type { Mutant, Wrap } from "../mutant.ts";
import { brokenFields, redirected, withoutFrameRules } from "../page.ts";

const login = (...ids: string[]): string[] => ids.map((id) => `oauth/login/never-to-${id}`);
const practice = (...ids: string[]): string[] => ids.map((id) => `oauth/best_practice/${id}`);

/** Sends a browser that signed in where its address says, as the fault understands it. */
const loginGoes = (understand: (to: string, own: string) => string | undefined): Wrap =>
  faultyAnswers(LOGIN, (answer, request) => {
    const url = new URL(request.url);
    const to = url.searchParams.get("redirect");
    if (request.method !== "POST" || to === null || answer.status === 403) return answer;
    const location = understand(to, url.origin);
    // What no field can hold goes nowhere.
    return location === undefined || /[^\x20-\x7e]/.test(location)
      ? answer
      : withFields(answer, { location }, 303);
  });

const ifOnly = (takes: (to: string) => boolean) => (to: string): string | undefined =>
  takes(to) ? to : undefined;

const pathIn = (to: string, own: string): string | undefined => {
  const url = URL.parse(to, own);
  return url?.origin === own ? url.pathname + url.search : undefined;
};

export const LOGIN_PAGE: readonly Mutant[] = [
  {
    name: "oauth/login-framed",
    fault: "Lets other sites show the login page in a frame",
    wrap: withoutFrameRules(LOGIN),
    breaks: ["oauth/login/not-in-a-frame"],
    mayBreak: { "It looks at the same page": ["oauth/best_practice/login-says-who-may-frame-it"] },
  },
  {
    name: "oauth/login-from-anywhere",
    fault: "Lets other sites sign a browser in",
    wrap: faultyRequests(
      LOGIN,
      (request) => withRequestFields(request, { origin: undefined, "sec-fetch-site": undefined }),
    ),
    breaks: ["oauth/login/from-another-site"],
  },
  {
    name: "oauth/login-goes-anywhere",
    fault: "Sends a browser that signed in wherever its address says",
    wrap: loginGoes((to) => to),
    breaks: ["oauth/login/never-to-elsewhere", "oauth/login/never-to-script", "oauth/login/never-to-data"],
    mayBreak: { "Each names another address of a stranger": ["oauth/login/"] },
  },
  {
    name: "oauth/login-goes-to-paths",
    fault: "Takes everything that begins with a slash for a path of its own",
    wrap: loginGoes(ifOnly((to) => to.startsWith("/"))),
    breaks: ["oauth/login/never-to-scheme-relative", "oauth/login/never-to-slash-backslash"],
    mayBreak: {
      "Theirs begin with a slash, too": [
        "oauth/login/from-another-site",
        "oauth/login/never-to-three-slashes",
      ],
    },
  },
  {
    name: "oauth/login-goes-to-own-prefix",
    fault: "Takes everything that begins with its own address for its own",
    wrap: loginGoes(ifOnly((to) => to.startsWith("https://trivet.example"))),
    breaks: ["oauth/login/never-to-own-host-as-user", "oauth/login/never-to-own-host-as-prefix"],
  },
  {
    name: "oauth/login-forgets",
    fault: "Forgets what the browser came for",
    wrap: faultyRedirects(LOGIN, () => "/"),
    breaks: ["oauth/login/back-to-the-request"],
  },
  {
    name: "oauth/login-goes-where-parsed",
    fault: "Looks for slashes, and goes to what a URL parser makes of the rest",
    wrap: loginGoes((to) => to.includes("//") ? undefined : URL.parse(to)?.href),
    breaks: login("no-slashes", "one-slash"),
    mayBreak: { "Their scheme has no slashes either": login("script", "data", "") },
  },
  {
    name: "oauth/login-goes-without-controls",
    fault: "Drops control characters and blanks after it has looked at an address",
    wrap: loginGoes((to) => /^[a-z]+:|^\/\//i.test(to) ? undefined : to.replace(/[^!-~]/g, "")),
    breaks: login("tab-between-slashes", "line-end-between-slashes", "control-before", "null-byte"),
    mayBreak: {
      "Theirs looks like a path, too": login(
        "backslash-slash",
        "slash-backslash",
        "backslashes",
        "blank-before",
      ),
    },
  },
  {
    name: "oauth/login-goes-to-short-paths",
    fault: "Takes dots out of paths after it has looked at them",
    wrap: loginGoes((to, own) => to.startsWith("//") ? undefined : pathIn(to, own)),
    breaks: login("dot-slashes", "dots-slashes"),
  },
  {
    name: "oauth/login-goes-to-decoded",
    fault: "Decodes an address after it has looked at it",
    wrap: loginGoes((to, own) => {
      const path = to.startsWith("//") ? undefined : pathIn(to, own);
      return path?.startsWith("//") ? undefined : path && decodeURIComponent(path);
    }),
    breaks: login("encoded-slashes"),
  },
  {
    name: "oauth/login-breaks-fields",
    fault: "Writes line ends of an address into a field",
    wrap: brokenFields(LOGIN, "redirect"),
    breaks: ["oauth/login/target-breaks-no-field"],
  },
  {
    name: "oauth/login-then-302",
    fault: "Sends the browser on by 302 after a password",
    wrap: redirected(LOGIN, 302),
    breaks: practice("password-then-303"),
  },
  {
    name: "oauth/login-then-307",
    fault: "Has the browser send the password on",
    wrap: redirected(LOGIN, 307),
    breaks: practice("password-not-forwarded", "password-then-303"),
    mayBreak: { "They ask by which status the browser goes on": ["oauth/login/"] },
    stops: "Nobody is signed in by a page that sends the form on",
  },
  {
    name: "oauth/login-again-by-307",
    fault: "Sends a browser with a wrong password back to the form by 307",
    wrap: faultyAnswers(
      LOGIN,
      (answer, request) =>
        request.method === "POST" && (answer.status === 401 || answer.status === 403)
          ? withFields(answer, { location: LOGIN }, 307)
          : answer,
    ),
    breaks: practice("wrong-password-not-forwarded"),
    mayBreak: { "Who is refused is not sent anywhere": ["oauth/login/"] },
  },
  {
    name: "oauth/login-page-tells-referrer",
    fault: "Lets the login page tell its address",
    wrap: faultyAnswers(LOGIN, (answer) => withFields(answer, { "referrer-policy": "unsafe-url" })),
    breaks: practice("login-tells-no-referrer"),
  },
];
