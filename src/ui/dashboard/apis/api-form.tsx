import { useState } from 'react';
import { Switch, TextField } from '../../kit/field.tsx';
import { texts } from '../../texts/texts.ts';
import { type ApiDraft, isUpstreamUrl, toListenPath } from './new-api.ts';

const own = texts.apis;

type Faults = Partial<Record<'name' | 'upstream' | 'listenPath' | 'schema', string>>;

/** Fields of a new API; one with sources of its own has no upstream. The listen path follows the name until it is typed. */
export function useApiForm(upstream = '', hasUpstream = true) {
  const [fields, setFields] = useState<ApiDraft>({ name: '', upstream, listenPath: '', isProtected: true });
  const [hasOwnPath, setOwnPath] = useState(false);
  const [faults, setFaults] = useState<Faults>({});
  const listenPath = hasOwnPath ? fields.listenPath : toListenPath(fields.name);
  const api = { ...fields, listenPath };
  const set = (some: Partial<ApiDraft>) => {
    if (some.listenPath !== undefined) setOwnPath(true);
    setFields(before => ({ ...before, ...some }));
  };
  /** The faults appear at their fields; true where there are none. */
  const check = (more: Faults = {}) => {
    const found: Faults = {
      ...(api.name.trim() === '' ? { name: own.nameMissing } : {}),
      ...(!hasUpstream || isUpstreamUrl(api.upstream) ? {} : { upstream: own.upstreamInvalid }),
      ...(api.listenPath.startsWith('/') ? {} : { listenPath: own.pathInvalid }),
      ...more,
    };
    setFaults(found);
    return Object.keys(found).length === 0;
  };
  return { api, set, faults, check, hasUpstream };
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
