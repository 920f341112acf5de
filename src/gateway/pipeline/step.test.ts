import assert from 'node:assert/strict';
import { test } from 'node:test';
import { classicToModel } from '#definition/model.ts';
import type { ClassicDefinition } from '#definition/wire-types.ts';
import type { PipelineServices } from './services.ts';
import type { ChainStep, Step, StepReads } from './step.ts';

const reads = {
  api: ['ipAccess'],
  endpoints: ['block'],
  also: { api: ['cors'] },
} as const satisfies StepReads;

type Services = Pick<PipelineServices, 'clock'>;

const seen: unknown[] = [];

const declaringStep: Step<Services, typeof reads> = {
  name: 'declaring',
  reads,
  build({ model, version, services }) {
    seen.push(model.identity.id, model.ipAccess.enabled, model.cors.enabled, version.key, version.endpoints.block);
    seen.push(services.clock.now());
    // @ts-expect-error a part that is not declared
    void model.cache;
    // @ts-expect-error a part of the version that is not declared
    void version.timeout;
    // @ts-expect-error an endpoint list that is not declared
    void version.endpoints.allow;
    // @ts-expect-error a service that is not declared
    void services.log;
    return undefined;
  },
};

// @ts-expect-error a step that reads a part declares it at run time too
void ({ name: 'undeclaring', build: () => undefined } satisfies Step<Services, typeof reads>);

// @ts-expect-error a chain without the clock cannot build the step
void (declaringStep satisfies ChainStep<Pick<PipelineServices, 'log'>>);

test('a step is built from the parts and services that it declares, and from no others', () => {
  const model = classicToModel({ api_id: 'one', enable_ip_whitelisting: true } as unknown as ClassicDefinition);
  const step: ChainStep<Services> = declaringStep;
  assert.equal(step.build({ model, version: model.versions[0]!, services: { clock: { now: () => 7 } } }), undefined);
  assert.deepEqual(seen, ['one', true, false, '', [], 7]);
});
