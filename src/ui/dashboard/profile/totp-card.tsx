import { type FormEvent, useState } from 'react';
import { Button } from '../../kit/button.tsx';
import { Card } from '../../kit/card.tsx';
import { SecretText } from '../../kit/copy.tsx';
import { Dialog } from '../../kit/dialog.tsx';
import { TextField } from '../../kit/field.tsx';
import { QrImage } from '../../kit/qr-image.tsx';
import { useWrite } from '../../kit/queries.ts';
import { ErrorText } from '../../kit/states.tsx';
import { useToasts } from '../../kit/toast.tsx';
import { texts } from '../../texts/texts.ts';
import { useSession } from '../session/session.ts';
import { toConfirmationBody } from './confirm-fields.tsx';
import { ReauthenticateDialog } from './reauthenticate-dialog.tsx';
import { RecoveryCodesDialog } from './recovery-codes-dialog.tsx';

const own = texts.profile;
const refreshed = ['GET /api/session'] as const;
type Step = 'enable' | 'disable' | 'codes' | undefined;

/** Authenticator app of the user: set up with a code, removed and renewed with the password. */
export function TotpCard() {
  const { second_factors, recovery_codes_left } = useSession();
  const isOn = second_factors.includes('totp');
  const [step, setStep] = useState<Step>();
  const [codes, setCodes] = useState<readonly string[]>();
  const close = () => setStep(undefined);
  const showCodes = (shown: readonly string[]) => {
    close();
    setCodes(shown);
  };
  return (
    <Card title={own.factor}>
      <div className="flex flex-col items-start gap-3">
        <p className="text-dim">{isOn ? own.factorOn(recovery_codes_left) : own.factorOff}</p>
        <div className="flex flex-wrap gap-2">
          {!isOn && <Button onClick={() => setStep('enable')}>{own.enable}</Button>}
          {isOn && <Button onClick={() => setStep('codes')}>{own.renewCodes}</Button>}
          {isOn && <Button onClick={() => setStep('disable')}>{own.disable}</Button>}
        </div>
      </div>
      {step === 'enable' && <EnableDialog onDone={showCodes} onClose={close} />}
      {step === 'disable' && <DisableDialog onClose={close} />}
      {step === 'codes' && <RenewDialog onDone={showCodes} onClose={close} />}
      {codes && <RecoveryCodesDialog codes={codes} onClose={() => setCodes(undefined)} />}
    </Card>
  );
}

interface StepProps {
  onDone(codes: readonly string[]): void;
  onClose(): void;
}

function EnableDialog({ onDone, onClose }: StepProps) {
  const creation = useWrite('POST /api/session/totp');
  const created = creation.data?.value;
  if (created) return <ConfirmCodeDialog secret={created.secret} uri={created.uri} onDone={onDone} onClose={onClose} />;
  return (
    <ReauthenticateDialog
      title={own.enableTitle}
      action={own.continue}
      needsCode={false}
      isBusy={creation.isPending}
      error={creation.error}
      onClose={onClose}
      onConfirm={it => creation.mutate({ given: { body: toConfirmationBody(it) } })}
    />
  );
}

/** The secret is in force after a code of it was typed: a wrong copy locks no one out. */
function ConfirmCodeDialog({ secret, uri, onDone, onClose }: StepProps & { secret: string; uri: string }) {
  const toasts = useToasts();
  const [otp, setOtp] = useState('');
  const { mutate, error, isPending } = useWrite('POST /api/session/totp/confirm', refreshed);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    mutate(
      { given: { body: { otp } } },
      {
        onSuccess: ({ value }) => {
          toasts.showSuccess(own.enabled);
          onDone(value.recovery_codes);
        },
      },
    );
  };
  return (
    <Dialog isOpen onClose={onClose} title={own.enableTitle} about={own.secretAbout}>
      <form onSubmit={submit} className="flex flex-col gap-4">
        <ErrorText error={error} />
        <div className="flex flex-wrap items-start gap-4">
          <QrImage text={uri} label={own.qrCode} />
          <div className="flex min-w-0 grow basis-48 flex-col gap-3">
            <section aria-label={own.secret} className="flex flex-col gap-1">
              <h3 className="text-body">{own.secret}</h3>
              <SecretText secret={secret} isShownOnce />
            </section>
            <a href={uri} className="text-accent-ink underline">
              {own.link}
            </a>
          </div>
        </div>
        <TextField
          label={own.confirmCode}
          required
          inputMode="numeric"
          autoComplete="one-time-code"
          value={otp}
          onChange={event => setOtp(event.target.value.trim())}
        />
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>{texts.kit.cancel}</Button>
          <Button kind="primary" type="submit" isBusy={isPending}>
            {own.confirmAction}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

function DisableDialog({ onClose }: { onClose(): void }) {
  const toasts = useToasts();
  const { mutate, error, isPending } = useWrite('POST /api/session/totp/disable', refreshed);
  return (
    <ReauthenticateDialog
      title={own.disableTitle}
      action={own.disable}
      needsCode
      isBusy={isPending}
      error={error}
      onClose={onClose}
      onConfirm={it =>
        mutate(
          { given: { body: toConfirmationBody(it) } },
          {
            onSuccess: () => {
              toasts.showSuccess(own.disabled);
              onClose();
            },
          },
        )
      }
    />
  );
}

function RenewDialog({ onDone, onClose }: StepProps) {
  const { mutate, error, isPending } = useWrite('POST /api/session/recovery-codes', refreshed);
  return (
    <ReauthenticateDialog
      title={own.renewCodesTitle}
      action={own.renewCodes}
      needsCode
      isBusy={isPending}
      error={error}
      onClose={onClose}
      onConfirm={it =>
        mutate({ given: { body: toConfirmationBody(it) } }, { onSuccess: ({ value }) => onDone(value.recovery_codes) })
      }
    />
  );
}
