import type { Vault } from '#base/vault.ts';
import type { Meta } from '#storage/meta.ts';
import { demoMetaName } from './demo-name.ts';

/** Objects and credentials of the demo: sealed in the database, and plain in a private file. */
export interface DemoState {
  /** `removing`: its objects are deleted, its records of requests perhaps not yet. */
  readonly phase: 'ready' | 'removing';
  readonly orgId: string;
  /** Port of the upstream in the definitions. */
  readonly port: number;
  readonly apiIds: readonly string[];
  readonly policyIds: readonly string[];
  readonly hookId: string;
  readonly groupId: string;
  readonly analyst: DemoUser;
  /** Developer of the portal; absent in the state of earlier versions, whose developer has no password. */
  readonly developer?: DemoUser;
  readonly reporter: DemoKey & { readonly user: string; readonly password: string };
  readonly keys: readonly DemoKey[];
  readonly portal: DemoPortal;
}

export interface DemoUser {
  readonly email: string;
  readonly password: string;
}

export interface DemoKey {
  readonly alias: string;
  readonly key: string;
  readonly hash: string;
  /** Empty for a key with rights of its own. */
  readonly policy: string;
}

/** Numbers of the objects in the portal. */
export interface DemoPortal {
  readonly catalogue: number;
  readonly products: readonly number[];
  readonly plans: readonly number[];
  readonly developer: number;
  readonly apps: readonly number[];
  /** Policies of products and plans. */
  readonly policyIds: readonly string[];
  /** Absent in demos of earlier versions. */
  readonly content?: DemoContent;
}

/** Numbers of what visitors of the portal read. */
export interface DemoContent {
  readonly posts: readonly number[];
  readonly pages: readonly number[];
  readonly menus: readonly number[];
}

/** The copy that `gw demo` reads, also while a process holds the lock of the data directory. */
export const demoFile = 'demo.json';

const purpose = 'demo';

export function createDemoStates({ meta, vault }: { readonly meta: Meta; readonly vault: Vault }) {
  return {
    async read(): Promise<DemoState | undefined> {
      const sealed = await meta.get(demoMetaName);
      return sealed === undefined ? undefined : (JSON.parse(vault.open(sealed, purpose)) as DemoState);
    },
    write: (state: DemoState): Promise<void> => meta.set(demoMetaName, vault.seal(JSON.stringify(state), purpose)),
    remove: (): Promise<void> => meta.remove(demoMetaName),
  };
}
