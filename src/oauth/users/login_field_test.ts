import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { TrivetEvent } from "../../events.ts";
import { newServer } from "../test_server.ts";
import { checkLoginFields, type LoginField } from "./login_field.ts";

const test = suite("oauth/login_field");
const FIELDS: readonly LoginField[] = [
  { name: "tenant", label: { en: "Company", de: "Firma" }, autocomplete: "organization", required: true },
  { name: "code", label: "<Code>", type: "password", autocomplete: "one-time-code" },
];
const form = { username: "alice", password: "wonderland" };

async function newFieldServer() {
  const forms: Record<string, string>[] = [];
  const authenticateUser = (values: ReadonlyMap<string, string>) => {
    forms.push(Object.fromEntries(values));
    return Promise.resolve(
      values.get("tenant") === "acme" ? { id: "acme|1", name: "Alice", email: "" } : undefined,
    );
  };
  const events: TrivetEvent[] = [];
  const server = await newServer({
    authenticateUser,
    loginFields: checkLoginFields({ loginFields: FIELDS, authenticateUser }),
    observe: (event) => events.push(event),
  });
  return { server, forms, events };
}

test("the form has the fields in the language of the page, escaped", async () => {
  const { server } = await newFieldServer();
  const get = async (language: string) =>
    await (await server.send("/login", { headers: { accept: "text/html", "accept-language": language } }))
      .text();
  const english = await get("en");
  assert.match(english, "Company");
  assert.match(
    english,
    /<input id="tenant" name="tenant" type="text"[^>]*autocomplete="organization"[^>]*required/s,
  );
  assert.match(english, "&lt;Code&gt;");
  assert.match(english, /name="code" type="password"[^>]*autocomplete="one-time-code"/s);
  assert.not.match(/name="code"[^>]*/.exec(english)![0], "required");
  assert.match(await get("de"), "Firma");
});

test("authenticateUser gets the values, and a form without a required one is refused before", async () => {
  const { server, forms } = await newFieldServer();
  assert.is((await server.send("/login", { form: { ...form, tenant: "acme", code: "1 2" } })).status, 200);
  assert.equal(forms, [{ ...form, tenant: "acme", code: "1 2" }]);
  for (const tenant of [undefined, ""]) {
    assert.is((await server.send("/login", { form: { ...form, tenant } })).status, 400);
  }
  assert.is(forms.length, 1);
});

test("values of fields are in no event and not shown again", async () => {
  const { server, events } = await newFieldServer();
  const response = await server.send("/login", {
    form: { ...form, tenant: "other-tenant", code: "secret-code" },
    headers: { accept: "text/html" },
  });
  assert.is(response.status, 401);
  assert.not.match(await response.text() + JSON.stringify(events), /secret-code|other-tenant/);
});

test("fields that a form or an embedder cannot use are refused at the start", () => {
  const authenticateUser = () => Promise.resolve(undefined);
  const label = "x";
  for (
    const loginFields of [
      [{ name: "", label }],
      [{ name: "a b", label }],
      [{ name: "username", label }],
      [{ name: "password", label }],
      [{ name: "redirect", label }],
      [{ name: "a", label }, { name: "a", label }],
      [{ name: "a", label: "" }],
      [{ name: "a", label: {} }],
      [{ name: "a", label, type: "file" as "text" }],
      [{ name: "a", label, autocomplete: '"' }],
    ]
  ) {
    assert.throws(
      () => checkLoginFields({ loginFields, authenticateUser }),
      (error: unknown) => error instanceof TypeError,
      JSON.stringify(loginFields),
    );
  }
  assert.throws(() => checkLoginFields({ loginFields: FIELDS }), /authenticateUser/);
});

test.run();
