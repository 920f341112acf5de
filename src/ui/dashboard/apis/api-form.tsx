import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { callServer, toBodyOf } from '../../kit/calls.ts';
import { Switch, TextField } from '../../kit/field.tsx';
import { useDebounced } from '../../kit/use-debounced.ts';
import { texts } from '../../texts/texts.ts';
import { type ApiDraft, buildDocument, isUpstreamUrl, toListenPath } from './new-api.ts';

const own = texts.apis;

type Faults = Partial<Record<'name' | 'upstream' | 'listenPath' | 'schema', string>>;

/** Fields of a new API; one with sources of its own has no upstream. The listen path follows the name until it is typed. */
export function useApiForm(upstream = '', hasUpstream = true) {
  const [fields, setFields] = useState<ApiDraft>({ name: '', upstream, listenPath: '', isProtected: true });
  const [hasOwnPath, setOwnPath] = useState(false);
  const [faults, setFaults] = useState<Faults>({});
  const listenPath = hasOwnPath ? fields.listenPath : toListenPath(fields.name);
  const api = { ...fields, listenPath };
  const pathFault = usePathFault(api);
  const set = (some: Partial<ApiDraft>) => {
    if (some.listenPath !== undefined) setOwnPath(true);
    setFields(before => ({ ...before, ...some }));
  };
  /** The faults appear at their fields; true where there are none. */
  const check = (more: Faults = {}) => {
    const found: Faults = {
      ...(api.name.trim() === '' ? { name: own.nameMissing } : {}),
      ...(!hasUpstream || isUpstreamUrl(api.upstream) ? {} : { upstream: own.upstreamInvalid }),
      ...(pathFault ? { listenPath: pathFault } : {}),
      ...(api.listenPath.startsWith('/') ? {} : { listenPath: own.pathInvalid }),
      ...more,
    };
    setFaults(found);
    return Object.keys(found).length === 0;
  };
  const shown = pathFault ? { ...faults, listenPath: pathFault } : faults;
  return { api, set, faults: shown, check, hasUpstream };
}

const pathPointer = '/x-gw-api-gateway/server/listenPath/value';
/** Upstream of the check while none is typed: only the listen path is checked. */
const anyUpstream = 'http://localhost/';

/** Check of the server for the listen path as it is typed: what a create would refuse. */
function usePathFault({ name, listenPath }: ApiDraft): string | undefined {
  const wanted = useDebounced(listenPath);
  const { data } = useQuery({
    queryKey: ['POST /api/apis/check', 'new', wanted],
    enabled: wanted.startsWith('/'),
    gcTime: 0,
    queryFn: async ({ signal }) => {
      const draft = { name: name.trim() || wanted, upstream: anyUpstream, listenPath: wanted, isProtected: false };
      const body = toBodyOf<'POST /api/apis/check'>({ oas: buildDocument(draft) });
      return (await callServer('POST /api/apis/check', { body }, { signal })).value;
    },
  });
  return wanted === listenPath ? data?.faults.find(({ pointer }) => pointer === pathPointer)?.message : undefined;
}

export function ApiFields({ form: { api, set, faults, hasUpstream } }: { form: ReturnType<typeof useApiForm> }) {
  return (
    <>
      <TextField
        label={own.name}
        required
        maxLength={500}
        error={faults.name}
        value={api.name}
        onChange={event => set({ name: event.target.value })}
      />
      {hasUpstream && (
        <TextField
          label={own.upstream}
          required
          type="url"
          isMono
          placeholder="https://"
          error={faults.upstream}
          value={api.upstream}
          onChange={event => set({ upstream: event.target.value })}
        />
      )}
      <TextField
        label={own.listenPath}
        required
        isMono
        help={own.listenPathHelp}
        error={faults.listenPath}
        value={api.listenPath}
        onChange={event => set({ listenPath: event.target.value })}
      />
      <Switch
        label={texts.home.protect}
        help={api.isProtected ? texts.home.protectHelp : own.openWarning}
        checked={api.isProtected}
        onChange={event => set({ isProtected: event.target.checked })}
      />
    </>
  );
}
