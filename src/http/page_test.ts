import { suite } from "uvu";
import * as assert from "uvu/assert";
import { html, respondPage } from "./page.ts";

const test = suite("http/page");

test("html escapes every inserted value that is not Markup", () => {
  const name = `<script>alert("1")</script> & 'x'`;
  assert.is(
    html`<b title="${name}">${name}</b>`.text,
    '<b title="&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt; &amp; &#39;x&#39;">&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt; &amp; &#39;x&#39;</b>',
  );
  assert.is(
    html`${html`<i>${"<"}</i>`}${[html`<br>`, html`<hr>`]}${undefined}${false}${0}`.text,
    "<i>&lt;</i><br><hr>0",
  );
});

test("a page forbids scripts, framing, caching and referrers", async () => {
  const response = respondPage({ title: "<T>", body: html`<p>text</p>`, formAction: "'self'" });
  assert.is(response.status, 200);
  assert.is(response.headers.get("content-type"), "text/html; charset=utf-8");
  assert.is(
    response.headers.get("content-security-policy"),
    "default-src 'none'; style-src data:; base-uri 'none'; frame-ancestors 'none'; form-action 'self'",
  );
  assert.is(response.headers.get("x-frame-options"), "DENY");
  assert.is(response.headers.get("x-content-type-options"), "nosniff");
  assert.is(response.headers.get("referrer-policy"), "no-referrer");
  assert.is(response.headers.get("cache-control"), "no-store");
  const text = await response.text();
  assert.match(text, /^<!doctype html>/);
  assert.match(text, "<title>&lt;T&gt;</title>");
  assert.not.match(text, "<script");
});

test.run();
