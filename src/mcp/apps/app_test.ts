import { suite } from "uvu";
import * as assert from "uvu/assert";
import { newServer, request } from "../test_server.ts";
import { tool } from "../definition/define.ts";
import { app, APP_TYPE, appOf, type AppOptions, isForModel, showIn } from "./app.ts";

const test = suite("mcp/apps");

const HTML = "<!doctype html><title>Weather</title>";
const UI = "io.modelcontextprotocol/ui";
const dashboard = app({
  uri: "ui://weather/dashboard",
  html: HTML,
  csp: {
    connectDomains: ["https://api.example.com", "wss://live.example.com:8443"],
    resourceDomains: ["https://*.example.net"],
  },
  permissions: ["geolocation"],
  prefersBorder: true,
});
const weather = tool({
  name: "get_weather",
  description: "Weather",
  _meta: showIn(dashboard),
  run: () => "sunny",
});

const initialize = (protocolVersion: string) =>
  request("initialize", { protocolVersion, capabilities: {}, clientInfo: { name: "a", version: "1" } });

test("an app is a resource with its policy in the list and in the contents", async () => {
  const { post } = newServer({ definitions: [dashboard, weather] });
  const { body: tools } = await post(request("tools/list"));
  assert.equal(tools.result.tools[0]._meta, { ui: { resourceUri: "ui://weather/dashboard" } });
  const { body: list } = await post(request("resources/list"));
  const [entry] = list.result.resources;
  assert.is(entry.mimeType, APP_TYPE);
  const { body: read } = await post(request("resources/read", { uri: "ui://weather/dashboard" }));
  const [contents] = read.result.contents;
  assert.is(contents.text, HTML);
  assert.is(contents.mimeType, APP_TYPE);
  assert.equal(contents._meta, entry._meta);
  assert.equal(contents._meta.ui.permissions, { geolocation: {} });
  assert.equal(contents._meta.ui.csp.resourceDomains, ["https://*.example.net"]);
  assert.is(contents._meta.ui.prefersBorder, true);
});

test("the extension is declared when an app is defined, to clients whose revision has _meta", async () => {
  const extensions = async (definitions: typeof dashboard[], revision: string) =>
    (await newServer({ definitions }).post(initialize(revision), {
      accept: "application/json, text/event-stream",
    }))
      .body.result.capabilities.extensions;
  assert.equal(await extensions([dashboard], "2025-11-25"), { [UI]: {} });
  assert.equal(await extensions([dashboard], "2025-06-18"), { [UI]: {} });
  assert.is(await extensions([dashboard], "2025-03-26"), undefined);
  assert.is(await extensions([], "2025-11-25"), undefined);
});

test("HTML may be made for each caller, and must be a document", async () => {
  const { post } = newServer({
    definitions: [
      app({ uri: "ui://a/mine", html: ({ principal }) => `<!DOCTYPE html><p>${principal?.client ?? "you"}` }),
      app({ uri: "ui://a/wrong", html: () => "<p>no document" }),
    ],
  });
  const read = (uri: string) => post(request("resources/read", { uri }));
  assert.is((await read("ui://a/mine")).body.result.contents[0].text, "<!DOCTYPE html><p>you");
  assert.is((await read("ui://a/wrong")).body.result, undefined);
});

test("invalid apps are refused", () => {
  const wrong: Partial<AppOptions>[] = [
    { uri: "https://a.example/app" },
    { uri: "ui://" },
    { uri: "ui://a/b c" },
    { html: "<p>no document" },
    { permissions: ["usb" as "camera"] },
    { csp: { scriptSrc: [] } as object },
    ...[
      "https://a.example; script-src *",
      "https://a.example https://b.example",
      "*",
      "http://a.example",
      "'unsafe-eval'",
      "data:",
      "https://a.example/path",
      "https://a.example\r\nx",
    ].map((origin) => ({ csp: { connectDomains: [origin] } })),
  ];
  for (const options of wrong) {
    assert.throws(() => app({ uri: "ui://a/b", html: HTML, ...options }), TypeError, JSON.stringify(options));
  }
  assert.ok(app({ uri: "ui://a/b", html: HTML, csp: { connectDomains: ["http://localhost:3000"] } }));
});

test("a tool is for the model unless it says that it is for the app alone", () => {
  assert.ok(isForModel(undefined));
  assert.ok(isForModel({}));
  assert.ok(isForModel(showIn(dashboard)));
  assert.ok(isForModel(showIn(dashboard, ["model", "app"])));
  assert.not.ok(isForModel(showIn(dashboard, ["app"])));
  assert.throws(() => showIn(dashboard, []));
  assert.is(appOf(showIn(dashboard)), "ui://weather/dashboard");
  assert.is(appOf({ "ui/resourceUri": "ui://old" }), "ui://old");
  assert.is(appOf({ ui: { resourceUri: "https://a.example" } }), undefined);
  assert.is(appOf({ ui: { visibility: ["app"] } }), undefined);
  assert.throws(() => showIn({ uri: "test://a" }));
});

test.run();
