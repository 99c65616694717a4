import { suite } from "uvu";
import * as assert from "uvu/assert";
import { html } from "./page.ts";

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

test.run();
