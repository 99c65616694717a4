import { suite } from "uvu";
import * as assert from "uvu/assert";
import { describeApi } from "../openapi.ts";
import { newAdmin } from "../test_admin.ts";
import { openForm, runScript } from "./test_browser.ts";

const test = suite("admin/page/form");
const description = describeApi("https://trivet.example");

test("attack: a change of the name lifts no restriction that an empty list is", async () => {
  const { call } = newAdmin();
  const restricted = {
    id: "app",
    name: "App",
    redirect_uris: ["https://app.example/callback"],
    introspects: [],
    token_exchange_resources: [],
    scope: "",
  };
  await call("addClient", restricted);
  const form = openForm(description, "updateClient", await call("showClient", { client: "app" }));
  form.controls.get("name")!.value = "My app";
  const changes = await form.submit();
  assert.equal(changes, { name: "My app" });
  const changed = await call("updateClient", { client: "app", ...changes });
  assert.equal(changed.introspects, []);
});

test("what is emptied is removed", async () => {
  const { call } = newAdmin();
  await call("addClient", {
    id: "app",
    name: "App",
    redirect_uris: ["https://app.example/callback"],
    scope: "skills:read",
    access_token_format: "jwt",
    initiate_login_uri: "https://app.example/login",
    default_acr_values: ["mfa"],
  });
  const form = openForm(description, "updateClient", await call("showClient", { client: "app" }));
  const emptied = ["scope", "access_token_format", "initiate_login_uri", "default_acr_values"];
  for (const name of emptied) form.controls.get(name)!.value = "";
  const changes = await form.submit();
  assert.equal(changes, Object.fromEntries(emptied.map((name) => [name, null])));
  const changed = await call("updateClient", { client: "app", ...changes });
  for (const name of emptied) assert.is(changed[name], undefined, name);
});

test("an empty text stays a text where null is not allowed", async () => {
  const { call } = newAdmin();
  await call("addUser", { username: "alice", email: "alice@example.com" });
  const form = openForm(description, "updateUser", await call("showUser", { user: "alice" }));
  form.controls.get("email")!.value = "";
  assert.equal(await form.submit(), { email: "" });
});

test("a choice that can be removed offers its words, and not null", () => {
  const select = openForm(description, "updateClient", {}).controls.get("subject_type")!;
  assert.equal(select.all().map(({ value }) => value), ["", "public", "pairwise"]);
});

test("lists have the columns that the page chooses for them", () => {
  const { COLUMNS, readDescription } = runScript("COLUMNS, readDescription");
  const operations = readDescription(description);
  for (const [path, columns] of Object.entries<string[]>(COLUMNS)) {
    const { member } = operations.find((each: { method: string; path: string }) =>
      each.method === "GET" && each.path === path
    );
    for (const name of columns) assert.ok(Object.hasOwn(member.properties, name), `${path}: ${name}`);
  }
});

test.run();
