import { Button } from '../../kit/button.tsx';
import type { ResultOf } from '../../kit/calls.ts';
import { CommandText } from '../../kit/command-text.tsx';
import { IdText, SecretText } from '../../kit/copy.tsx';
import { toCurl } from '../../kit/curl.ts';
import { Dialog } from '../../kit/dialog.tsx';
import { useOperation } from '../../kit/queries.ts';
import { texts } from '../../texts/texts.ts';
import { toApiOutline } from '../apis/api-outline.ts';
import { toJsonObject } from '../apis/form/json-members.ts';
import { buildSampleCall } from '../apis/sample-call.ts';
import { usePermission } from '../session/session.ts';

const own = texts.keys;
type CreatedKey = ResultOf<'POST /api/keys'>;

/** The new key, shown once, with its hash and a command that uses it; closed by its button only. */
export function KeyDoneDialog({ created, onClose }: { created: CreatedKey | undefined; onClose(): void }) {
  const canReadApis = usePermission('apis');
  const [apiId] = Object.keys(created?.data.access_rights ?? {});
  return (
    <Dialog
      isOpen={created !== undefined}
      isModalOnly
      onClose={onClose}
      title={own.doneTitle}
      about={own.doneAbout}
      footer={
        <Button kind="primary" onClick={onClose}>
          {own.doneAction}
        </Button>
      }
    >
      {created && (
        <div className="flex flex-col gap-4">
          <SecretText secret={created.key_id} isShownOnce />
          {created.key_hash && (
            <p className="flex items-center gap-2">
              <span className="text-dim">{own.hash}</span>
              <IdText id={created.key_hash} />
            </p>
          )}
          {canReadApis && apiId !== undefined && <KeyCommand apiId={apiId} keyId={created.key_id} />}
        </div>
      )}
    </Dialog>
  );
}

/** Command that calls an API with the key; absent where the API takes another credential. */
function KeyCommand({ apiId, keyId }: { apiId: string; keyId: string }) {
  const params = { apiId };
  const item = useOperation('GET /api/apis/{apiId}', { params }).data?.value;
  const url = useOperation('GET /api/apis/{apiId}/url', { params }).data?.value.ApiURL;
  if (!item || url === undefined) return null;
  const { authentication, isGraphql, name } = toApiOutline(item);
  if (authentication[0] !== 'authToken') return null;
  const document = item.oas === undefined ? undefined : toJsonObject(item.oas);
  const source = { url, authentication, isGraphql, classic: toJsonObject(item.api_definition), document };
  const placeholders = { ...texts.apis.placeholders, key: keyId };
  return (
    <div className="flex flex-col gap-1">
      <span className="text-dim">{own.callWith(name)}</span>
      <CommandText command={toCurl(buildSampleCall(source, placeholders))} label={texts.apis.copyCommand} />
    </div>
  );
}
