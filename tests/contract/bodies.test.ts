import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { z } from 'zod';
import { surfaces } from '#operations/surfaces.ts';
import { catalogue } from '../../src/catalogue.ts';
import { type Answer, onEveryEngine, type TestApp } from '../support/app.ts';
import { type Place, placesOf } from './members.ts';

/** Wrongly typed and deeply nested bodies of every operation. */

type Each = (typeof catalogue)[number];

const withJson = (catalogue as readonly Each[]).filter(
  it => it.body && it.accepts !== 'upload' && it.accepts !== 'form' && it.accepts !== 'text',
);
const contentType = ({ accepts }: Each) => (typeof accepts === 'object' ? accepts.only[0]! : 'application/json');
const sendTo = (app: TestApp, it: Each, body: string): Promise<Answer> =>
  app.ask(it.method, it.path.replaceAll(/\{[\w-]+\}/g, 'nothing-is-called-this'), {
    body,
    headers: { 'content-type': contentType(it) },
  });

/** One value of each JSON type. */
const candidates: readonly unknown[] = [{ 'of another type': [] }, [[{}]], 'text of another type', true, -1.5];

/** A value that the rule of a member refuses by its type. */
const findWrong = (member: z.core.$ZodType): unknown =>
  candidates.find(value => !(member as z.ZodType).safeParse(value).success);

/** A response lists the errors of as many members at least. */
const membersPerRequest = 10;

const listWrongMembers = ({ object, path }: Place) =>
  Object.entries(object.shape)
    .map(([name, member]) => ({ name, path: path ? `${path}.${name}` : name, value: findWrong(member) }))
    .filter(({ value }) => value !== undefined);

onEveryEngine('Request bodies', app => {
  const send = (it: Each, body: string) => sendTo(app(), it, body);

  for (const it of withJson) {
    const { invalidStatus } = surfaces[it.surface];

    test(`${it.name} refuses nesting beyond the bound`, async () => {
      const objects = await send(it, `${'{"a":'.repeat(150)}1${'}'.repeat(150)}`);
      assert.equal(objects.status, invalidStatus, objects.text);
      const lists = await send(it, `{"a":${'['.repeat(10_000)}${']'.repeat(10_000)}}`);
      assert.equal(lists.status, invalidStatus, lists.text);
    });

    const places = placesOf(it.body!).map(place => ({ place, members: listWrongMembers(place) }));
    const count = places.reduce((sum, { members }) => sum + members.length, 0);
    if (count > 0)
      test(`${it.name} refuses a wrong type of each of its ${count} members, with the path`, async () => {
        for (const { place, members } of places)
          for (let at = 0; at < members.length; at += membersPerRequest) {
            const sent = members.slice(at, at + membersPerRequest);
            const wrong = Object.fromEntries(sent.map(({ name, value }) => [name, value]));
            const answer = await send(it, JSON.stringify(place.body(wrong)));
            assert.equal(answer.status, invalidStatus, answer.text);
            for (const { path } of sent) {
              // Alternatives are reported as a whole.
              const isReported = answer.text.includes(path) || answer.text.includes(`${place.path}: must be`);
              assert.ok(isReported, `${path}: ${answer.text}`);
            }
          }
      });
  }
});
