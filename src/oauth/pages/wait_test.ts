import { suite } from "uvu";
import * as assert from "uvu/assert";
import { showPage } from "./page.ts";
import { completePages } from "./settings.ts";
import type { View } from "./views.ts";

const test = suite("oauth/pages/wait");
const server = { pages: completePages(), issuer: "https://as.example", base: "", origin: "", observe() {} };

const signUp = (problem: { code: "too_many_attempts" | "busy"; seconds: number }): View => ({
  name: "sign_up",
  action: "/login/sign-up",
  hasPassword: true,
  requiresEmail: false,
  entered: { username: "", name: "", email: "" },
  minPasswordLength: 8,
  providers: [],
  signIn: "/login",
  problem,
});

test("every page says how long to wait, never too little, and two seconds are no minute", async () => {
  for (const [seconds, text] of [[2, "2 seconds"], [89, "89 seconds"], [740, "13 minutes"]] as const) {
    const problem = { code: "too_many_attempts", seconds } as const;
    const account = { account: "/account", action: "/", hidden: {} };
    const views: readonly View[] = [
      { name: "forgot_password", action: "/", identifier: "", signIn: "/login", problem },
      {
        name: "reset_password",
        action: "/",
        username: "alice",
        minPasswordLength: 8,
        problem: { code: "busy", seconds },
      },
      signUp(problem),
      signUp({ code: "busy", seconds }),
      { name: "sign_up_confirm", action: "/", username: "alice", email: "", needsPassword: true, problem },
      { name: "account_email", ...account, email: "", isVerifiedFirst: true, problem },
      {
        name: "account_password",
        ...account,
        hasPassword: true,
        username: "alice",
        minLength: 8,
        isDone: false,
        problem,
      },
    ];
    for (const view of views) {
      const response = await showPage(server, new Request("https://as.example/"), view);
      assert.is(response.headers.get("retry-after"), String(seconds));
      assert.match(await response.text(), text, view.name);
    }
  }
});

test.run();
