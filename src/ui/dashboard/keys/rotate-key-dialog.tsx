import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { Button } from '../../kit/button.tsx';
import type { ResultOf } from '../../kit/calls.ts';
import { SecretText } from '../../kit/copy.tsx';
import { ConfirmDialog, Dialog } from '../../kit/dialog.tsx';
import { Checkbox, SelectField } from '../../kit/field.tsx';
import { formatTime } from '../../kit/format.ts';
import { useWrite } from '../../kit/queries.ts';
import { ErrorText } from '../../kit/states.tsx';
import { useToasts } from '../../kit/toast.tsx';
import { texts } from '../../texts/texts.ts';
import { type KeyFacts, nameKey } from './key-facts.ts';

const own = texts.keys;
const defaultGrace = '86400';

/** Rotation with a grace period; the new key is shown once. Without grace it cannot be undone, and needs a tick. */
export function RotateKeyDialog({ facts, onClose }: { facts: KeyFacts; onClose(): void }) {
  const [grace, setGrace] = useState(defaultGrace);
  const [isTicked, setTicked] = useState(false);
  const { mutate, data, error, isPending } = useWrite('POST /api/keys/{keyId}/rotate', ['GET /api/keys/detailed']);
  const isHard = grace === '0';
  const rotate = () =>
    mutate({
      given: {
        params: { keyId: facts.hash },
        query: { hashed: 'true' },
        body: { grace_seconds: Number(grace) },
      },
      options: { wait: 'applied' },
    });
  if (data) return <RotatedDialog name={nameKey(facts)} issued={data.value} onClose={onClose} />;
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={own.rotateTitle(nameKey(facts))}
      about={own.rotateAbout}
      footer={
        <>
          <Button onClick={onClose}>{texts.kit.cancel}</Button>
          <Button kind="primary" disabled={isHard && !isTicked} isBusy={isPending} onClick={rotate}>
            {own.rotateAction}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-4">
        <ErrorText error={error} />
        <SelectField
          label={own.grace}
          value={grace}
          onChange={event => setGrace(event.target.value)}
          options={Object.entries(own.graces).map(([value, label]) => ({ value, label }))}
        />
        {isHard && (
          <Checkbox
            label={texts.kit.understand}
            checked={isTicked}
            onChange={event => setTicked(event.target.checked)}
          />
        )}
      </div>
    </Dialog>
  );
}

interface RotatedProps {
  readonly name: string;
  readonly issued: ResultOf<'POST /api/keys/{keyId}/rotate'>;
  onClose(): void;
}

/** The new key, and the end of the old one; then the page of the new key. */
function RotatedDialog({ name, issued, onClose }: RotatedProps) {
  const navigate = useNavigate();
  const open = () => {
    onClose();
    void navigate({ to: '/keys/$keyHash', params: { keyHash: issued.key_hash } });
  };
  return (
    <Dialog
      isOpen
      isModalOnly
      onClose={open}
      title={own.rotatedTitle}
      about={own.rotatedAbout}
      footer={
        <Button kind="primary" onClick={open}>
          {own.doneAction}
        </Button>
      }
    >
      <div className="flex flex-col gap-4">
        <SecretText secret={issued.key_id} isShownOnce />
        {issued.replaced.expires > 0 && <OldKey name={name} {...issued.replaced} />}
      </div>
    </Dialog>
  );
}

interface OldKeyProps {
  readonly name: string;
  readonly key_hash: string;
  /** Unix time. */
  readonly expires: number;
}

/** End of the grace period of the old key, which can be now. */
function OldKey({ name, key_hash: keyId, expires }: OldKeyProps) {
  const toasts = useToasts();
  const [isEnding, setEnding] = useState(false);
  const { mutate, isSuccess, isPending } = useWrite('DELETE /api/keys/{keyId}', ['GET /api/keys/detailed']);
  const end = () =>
    mutate(
      { given: { params: { keyId }, query: { hashed: 'true' } }, options: { wait: 'applied' } },
      { onError: error => toasts.showError(error.message), onSettled: () => setEnding(false) },
    );
  if (isSuccess) return <p role="status">{own.oldEnded}</p>;
  return (
    <p className="flex flex-wrap items-center gap-2">
      <span className="mr-auto text-dim">
        {own.oldUntil} {formatTime(expires * 1000)}
      </span>
      <Button kind="danger" onClick={() => setEnding(true)}>
        {own.endOld}
      </Button>
      <ConfirmDialog
        isOpen={isEnding}
        tier={3}
        title={own.endOldTitle(name)}
        consequence={own.endOldConsequence}
        action={own.endOld}
        isBusy={isPending}
        onConfirm={end}
        onClose={() => setEnding(false)}
      />
    </p>
  );
}
