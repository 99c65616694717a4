/**
 * Faults in the login page: its redirects, and what other sites may do with it.
 *
 * @module
 */
import {
  changeRedirects,
  changeRequests,
  changeResponses,
  LOGIN,
  withHeaders,
  withRequestHeaders,
} from "../http_faults.ts";
import type { Mutant, Wrap } from "../mutant.ts";
import { injectHeaders, redirectWith, withoutFrameProtection } from "../browser_faults.ts";

const login = (...ids: string[]): string[] => ids.map((id) => `oauth/login/never-to-${id}`);
const practice = (...ids: string[]): string[] => ids.map((id) => `oauth/best_practice/${id}`);

/** Redirects after login to the URL that `resolve` returns for the target. */
const redirectAfterLogin = (resolve: (to: string, own: string) => string | undefined): Wrap =>
  changeResponses(LOGIN, (answer, request) => {
    const url = new URL(request.url);
    const to = url.searchParams.get("redirect");
    if (request.method !== "POST" || to === null || answer.status === 403) return answer;
    const location = resolve(to, url.origin);
    // A header cannot hold other characters.
    return location === undefined || /[^\x20-\x7e]/.test(location)
      ? answer
      : withHeaders(answer, { location }, 303);
  });

const acceptIf = (takes: (to: string) => boolean) => (to: string): string | undefined =>
  takes(to) ? to : undefined;

const findOwnPath = (to: string, own: string): string | undefined => {
  const url = URL.parse(to, own);
  return url?.origin === own ? url.pathname + url.search : undefined;
};

const ALSO_WRONG_PASSWORDS = {
  "The fault redirects after a wrong password too": ["oauth/login/guessing-passwords"],
};

export const LOGIN_PAGE: readonly Mutant[] = [
  {
    name: "oauth/login-framed",
    fault: "Lets other sites frame the login page",
    wrap: withoutFrameProtection(LOGIN),
    killedBy: ["oauth/login/not-in-a-frame"],
    mayFail: { "It checks the same page": ["oauth/best_practice/login-says-who-may-frame-it"] },
  },
  {
    name: "oauth/login-from-other-sites",
    fault: "Accepts logins from other sites",
    wrap: changeRequests(
      LOGIN,
      (request) => withRequestHeaders(request, { origin: undefined, "sec-fetch-site": undefined }),
    ),
    killedBy: ["oauth/login/from-another-site"],
  },
  {
    name: "oauth/login-open-redirect",
    fault: "Redirects after login to any URL",
    wrap: redirectAfterLogin((to) => to),
    killedBy: ["oauth/login/never-to-elsewhere", "oauth/login/never-to-script", "oauth/login/never-to-data"],
    mayFail: { "They name a foreign redirect target": ["oauth/login/"] },
  },
  {
    name: "oauth/login-redirect-slash",
    fault: "Treats every target that begins with a slash as its own path",
    wrap: redirectAfterLogin(acceptIf((to) => to.startsWith("/"))),
    killedBy: ["oauth/login/never-to-scheme-relative", "oauth/login/never-to-slash-backslash"],
    mayFail: {
      "Theirs begin with a slash": ["oauth/login/never-to-three-slashes"],
    },
  },
  {
    name: "oauth/login-redirect-prefix",
    fault: "Treats every target that begins with its origin as its own",
    wrap: redirectAfterLogin(acceptIf((to) => to.startsWith("https://trivet.example"))),
    killedBy: ["oauth/login/never-to-own-host-as-user", "oauth/login/never-to-own-host-as-prefix"],
    mayFail: ALSO_WRONG_PASSWORDS,
  },
  {
    name: "oauth/login-redirect-lost",
    fault: "Does not return to the request that needed the login",
    wrap: changeRedirects(LOGIN, () => "/"),
    killedBy: ["oauth/login/back-to-the-request"],
  },
  {
    name: "oauth/login-redirect-parsed",
    fault: "Refuses double slashes, then redirects to what a URL parser makes of the target",
    wrap: redirectAfterLogin((to) => to.includes("//") ? undefined : URL.parse(to)?.href),
    killedBy: login("no-slashes", "one-slash"),
    mayFail: { "Their scheme has no slashes": login("script", "data", "") },
  },
  {
    name: "oauth/login-redirect-strips-controls",
    fault: "Removes control characters and spaces after it has checked the target",
    wrap: redirectAfterLogin((to) => /^[a-z]+:|^\/\//i.test(to) ? undefined : to.replace(/[^!-~]/g, "")),
    killedBy: login("tab-between-slashes", "line-end-between-slashes", "control-before", "null-byte"),
    mayFail: {
      "Theirs look like a path": login(
        "backslash-slash",
        "slash-backslash",
        "backslashes",
        "blank-before",
      ),
    },
  },
  {
    name: "oauth/login-redirect-resolves-dots",
    fault: "Resolves dot segments after it has checked the target",
    wrap: redirectAfterLogin((to, own) => to.startsWith("//") ? undefined : findOwnPath(to, own)),
    killedBy: login("dot-slashes", "dots-slashes"),
    mayFail: ALSO_WRONG_PASSWORDS,
  },
  {
    name: "oauth/login-redirect-decodes",
    fault: "Decodes the target after it has checked it",
    wrap: redirectAfterLogin((to, own) => {
      const path = to.startsWith("//") ? undefined : findOwnPath(to, own);
      return path?.startsWith("//") ? undefined : path && decodeURIComponent(path);
    }),
    killedBy: login("encoded-slashes"),
    mayFail: ALSO_WRONG_PASSWORDS,
  },
  {
    name: "oauth/login-header-injection",
    fault: "Writes line breaks of the target into a header",
    wrap: injectHeaders(LOGIN, "redirect"),
    killedBy: ["oauth/login/target-breaks-no-field"],
  },
  {
    name: "oauth/login-then-302",
    fault: "Redirects with 302 after a password",
    wrap: redirectWith(LOGIN, 302),
    killedBy: practice("password-then-303"),
  },
  {
    name: "oauth/login-then-307",
    fault: "Redirects with 307 after a password, so that the browser sends it on",
    wrap: redirectWith(LOGIN, 307),
    killedBy: practice("password-not-forwarded", "password-then-303"),
    mayFail: { "They check the status of the redirect": ["oauth/login/"] },
    preventsSetup: "No browser is signed in after a 307",
  },
  {
    name: "oauth/login-again-by-307",
    fault: "Redirects a wrong password to the form with 307",
    wrap: changeResponses(
      LOGIN,
      (answer, request) =>
        request.method === "POST" && (answer.status === 401 || answer.status === 403)
          ? withHeaders(answer, { location: LOGIN }, 307)
          : answer,
    ),
    killedBy: practice("wrong-password-not-forwarded"),
    mayFail: { "They expect a refusal without a redirect": ["oauth/login/"] },
  },
  {
    name: "oauth/login-page-leaks-referrer",
    fault: "Sends the login page's URL as Referer",
    wrap: changeResponses(LOGIN, (answer) => withHeaders(answer, { "referrer-policy": "unsafe-url" })),
    killedBy: practice("login-tells-no-referrer"),
  },
];
