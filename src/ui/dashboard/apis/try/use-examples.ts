import { useState } from 'react';
import { callServer } from '../../../kit/calls.ts';
import { usePreferences } from '../../session/preferences.ts';
import { findExampleFault, type StoredExample } from './example-bounds.ts';
import { type KeptRequest, removeCredentials } from './request-history.ts';

export type ExampleRequest = Pick<KeptRequest, 'method' | 'path' | 'headerText' | 'body'>;

export interface TriedExample extends ExampleRequest {
  readonly name: string;
}

const toExample = ({ name, method, path, headers, body }: StoredExample): TriedExample => ({
  ...{ name, method, path, headerText: headers, body },
});

/** Named requests of the user to an API: preferences on the server, without what looks like a credential. */
export function useExamples(apiId: string) {
  const { preferences, change } = usePreferences();
  const all = preferences?.tried_examples ?? [];
  const isOther = (name: string) => (it: StoredExample) => it.api_id !== apiId || it.name !== name;
  const toStored = (name: string, request: ExampleRequest): StoredExample => {
    const { path, headerText: headers, body } = removeCredentials(request);
    return { api_id: apiId, name, method: request.method, path, headers, body };
  };
  /** An example of the same name is replaced. */
  const add = (stored: StoredExample) => [...all.filter(isOther(stored.name)), stored];
  return {
    examples: all.filter(it => it.api_id === apiId).map(toExample),
    /** Examples can be saved once the preferences are loaded. */
    isLoaded: preferences !== undefined,
    /** Why the server would refuse a request as an example; undefined where it would not. */
    findFault: (name: string, request: ExampleRequest) =>
      preferences && findExampleFault({ ...preferences, tried_examples: add(toStored(name, request)) }),
    save: (name: string, request: ExampleRequest) => change({ tried_examples: add(toStored(name, request)) }),
    remove: (name: string) => change({ tried_examples: all.filter(isOther(name)) }),
  };
}

export interface ExampleOutcome {
  /** Status of the response; undefined where there is none. */
  readonly status?: number;
  readonly error?: string;
}

interface SentRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Sends examples one after the other, and has the outcome of each by its name. */
export function useExampleRun(toRequest: (example: TriedExample) => SentRequest) {
  const [outcomes, setOutcomes] = useState<ReadonlyMap<string, ExampleOutcome>>(new Map());
  const [isRunning, setRunning] = useState(false);
  const send = async (example: TriedExample): Promise<ExampleOutcome> => {
    try {
      return { status: (await callServer('POST /api/explain', { body: toRequest(example) })).value.status_code };
    } catch (error) {
      return { error: (error as Error).message };
    }
  };
  const run = async (examples: readonly TriedExample[]) => {
    setRunning(true);
    setOutcomes(new Map());
    for (const example of examples) {
      const outcome = await send(example);
      setOutcomes(before => new Map([...before, [example.name, outcome]]));
    }
    setRunning(false);
  };
  return { outcomes, isRunning, run: (examples: readonly TriedExample[]) => void run(examples) };
}
