import { useState } from 'react';
import { Card } from '../../kit/card.tsx';
import { CodeEditor } from '../../kit/code-editor.tsx';
import { ErrorText } from '../../kit/states.tsx';
import { signOnTexts } from '../../texts/en/sign-on.ts';
import { parseProfile } from './parse-profile.ts';
import type { ProfileBody } from './profile-draft.ts';

const own = signOnTexts;

interface ProfileJsonProps {
  readonly value: ProfileBody;
  change(some: Partial<ProfileBody>): void;
  readonly isDisabled: boolean;
  /** Text that is no profile cannot be saved. */
  onFault(fault: string | undefined): void;
}

/** The whole profile as JSON; secrets are masked as in the fields. */
export function ProfileJson({ value, change, isDisabled, onFault }: ProfileJsonProps) {
  const [text, setText] = useState(() => JSON.stringify(value, null, 2));
  const [fault, setFault] = useState<string>();
  const write = (next: string) => {
    setText(next);
    const read = parseProfile(next);
    setFault(read.fault);
    onFault(read.fault);
    if (read.profile) change(read.profile);
  };
  return (
    <Card title={own.json}>
      <div className="flex flex-col gap-3">
        <CodeEditor label={own.json} value={text} isReadOnly={isDisabled} onChange={write} />
        <ErrorText error={fault === undefined ? null : new Error(fault)} />
      </div>
    </Card>
  );
}
