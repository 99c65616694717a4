/**
 * Steps: notifications of changes, and at the end the faults of the server. Only tests import this.
 *
 * @module
 */
import * as assert from "uvu/assert";
import type { Loose } from "./test_feature_client.ts";
import { type Step, textOf, TOOLS } from "./test_feature_step.ts";

export const NOTIFICATION_STEPS: readonly Step[] = [
  {
    name: "changed resources, while the client is subscribed",
    async run(client) {
      const { notifications } = client;
      const updated = "notifications/resources/updated";
      const uris = ["tour://notes/today", "tour://notes/tomorrow", "tour://people/ada/about.md"];
      const unwatch = await client.watch(uris);
      for (const uri of uris) {
        await client.call("touch", { uri });
        assert.is((await notifications.next(updated)).uri, uri);
      }
      await client.call("touch", { uri: "tour://logo" });
      await unwatch(uris[0]!);
      let late: Loose[];
      do {
        await client.call("touch", { uri: uris[0] });
        await client.call("touch", { uri: uris[1] });
        await notifications.next(updated, ({ uri }) => uri === uris[1]);
        late = notifications.take(updated);
        assert.ok(late.every(({ uri }) => uri === uris[0]), "nothing of what nobody watches");
        // A stream that the client closed may carry a change until the server knows; an unsubscription may not.
        if (client.era === "legacy") assert.equal(late, []);
      } while (late.length > 0);
    },
  },
  {
    name: "lists that change at run time",
    async run(client) {
      const { notifications } = client;
      await client.call("grow");
      for (const list of ["tools", "resources", "prompts"]) {
        await notifications.next(`notifications/${list}/list_changed`);
      }
      const names = (await client.list("tools")).all.map((each) => each.name);
      assert.equal(names, [...TOOLS, "late"]);
      assert.is(textOf(await client.call("late")), "better late");
      assert.ok((await client.list("resources")).all.some((each) => each.uri === "tour://late"));
      assert.is((await client.read("tour://late")).contents[0].text, "late");
      assert.ok((await client.list("prompts")).all.some((each) => each.name === "late"));
      for (const list of ["tools", "resources", "prompts"]) {
        // Each instance says so once.
        assert.ok(notifications.take(`notifications/${list}/list_changed`).length < client.instances);
      }
    },
  },
  {
    name: "nothing went wrong unseen",
    async run(client) {
      assert.is(textOf(await client.call("faults")), "[]");
      assert.equal(client.errors.map(String), [], "nor for the client");
    },
  },
];
