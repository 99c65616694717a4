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
    name: "a subscribed client is notified of changed resources until it unsubscribes",
    async run(client) {
      const { notifications } = client;
      const updated = "notifications/resources/updated";
      const uris = ["tour://notes/today", "tour://notes/tomorrow", "tour://people/ada/about.md"];
      const unsubscribe = await client.subscribe(uris);
      for (const uri of uris) {
        await client.call("touch", { uri });
        assert.is((await notifications.next(updated)).uri, uri);
      }
      await client.call("touch", { uri: "tour://logo" });
      await unsubscribe(uris[0]!);
      let late: Loose[];
      do {
        await client.call("touch", { uri: uris[0] });
        await client.call("touch", { uri: uris[1] });
        await notifications.next(updated, ({ uri }) => uri === uris[1]);
        late = notifications.take(updated);
        assert.ok(late.every(({ uri }) => uri === uris[0]), "only subscribed resources");
        // A change can still arrive on a stream that the client just closed, but not after resources/unsubscribe.
        if (client.era === "legacy") assert.equal(late, []);
      } while (late.length > 0);
    },
  },
  {
    name: "a client is notified of changed lists and reads them",
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
        // Each instance notifies once.
        assert.ok(notifications.take(`notifications/${list}/list_changed`).length < client.instances);
      }
    },
  },
  {
    name: "neither the server nor the client reports an error",
    async run(client) {
      assert.is(textOf(await client.call("faults")), "[]");
      assert.equal(client.errors.map(String), []);
    },
  },
];
