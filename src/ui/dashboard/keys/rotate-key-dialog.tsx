import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { Button } from '../../kit/button.tsx';
import { SecretText } from '../../kit/copy.tsx';
import { Dialog } from '../../kit/dialog.tsx';
import { Checkbox, SelectField } from '../../kit/field.tsx';
import { useWrite } from '../../kit/queries.ts';
import { ErrorText } from '../../kit/states.tsx';
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
  if (data) return <RotatedDialog issued={data.value} onClose={onClose} />;
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
  readonly issued: { readonly key_id: string; readonly key_hash: string };
  onClose(): void;
}

/** The new key, then its page. */
function RotatedDialog({ issued, onClose }: RotatedProps) {
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
      <SecretText secret={issued.key_id} isShownOnce />
    </Dialog>
  );
}
