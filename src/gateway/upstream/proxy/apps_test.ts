import { suite } from "uvu";
import * as assert from "uvu/assert";
import { app, APP_TYPE, showIn } from "../../../mcp/apps/app.ts";
import { resourceTemplate, tool } from "../../../mcp/definition/define.ts";
import { session } from "../../../mcp/test_exchange.ts";
import { MODERN, newGateway, upstreamOf } from "../test_gateway.ts";

const test = suite("gateway/upstream/proxy/apps");

const HTML = "<!doctype html><title>Weather</title>";
const dashboard = app({
  uri: "ui://weather/dashboard",
  html: HTML,
  csp: { connectDomains: ["https://a.example"] },
});
/** Servers need not list the apps of their tools. */
const unlisted = resourceTemplate({
  uriTemplate: "ui://hidden/{name}",
  name: "hidden",
  isListed: false,
  read: ({ name }) => ({ contents: [{ uri: `ui://hidden/${name}`, mimeType: APP_TYPE, text: HTML }] }),
});
const shown = tool({ name: "weather", description: "W", _meta: showIn(dashboard), run: () => "sunny" });
const forApp = tool({
  name: "refresh",
  description: "R",
  _meta: showIn({ uri: "ui://hidden/a" }, ["app"]),
  run: () => "sunny",
});

test("apps of an upstream have the address of the gateway, in tools, lists and contents", async () => {
  const { server, upstreams } = await newGateway({
    one: upstreamOf([dashboard, unlisted, shown, forApp], MODERN),
    two: upstreamOf([dashboard, shown], "2025-11-25"),
  });
  const { request } = await session(server, { revision: "2025-11-25" });
  const { tools } = (await request("tools/list")).answer.result;
  const uis = Object.fromEntries(
    tools.map((each: { name: string; _meta: { ui: unknown } }) => [each.name, each._meta.ui]),
  );
  assert.equal(uis, {
    one_weather: { resourceUri: "ui://one/weather/dashboard" },
    one_refresh: { resourceUri: "ui://one/hidden/a", visibility: ["app"] },
    two_weather: { resourceUri: "ui://two/weather/dashboard" },
  });
  for (const uri of ["ui://one/weather/dashboard", "ui://two/weather/dashboard", "ui://one/hidden/a"]) {
    const [contents] = (await request("resources/read", { uri })).answer.result.contents;
    assert.equal([contents.uri, contents.mimeType, contents.text], [uri, APP_TYPE, HTML]);
    if (uri.endsWith("dashboard")) {
      assert.equal(contents._meta.ui.csp, { connectDomains: ["https://a.example"] });
    }
  }
  assert.ok((await request("resources/read", { uri: "ui://two/hidden/a" })).answer.error);
  await upstreams.close();
});

test.run();
