/**
 * A text field whose value is part of the page address. The address is updated with a delay, so
 * while the user types, the value of the field wins.
 */
import { type ComponentProps, useEffect, useRef, useState } from 'react';

export interface AddressedInputProps
  extends Omit<ComponentProps<'input'>, 'value' | 'onChange' | 'ref'> {
  readonly label: string;
  readonly isLabelHidden?: boolean;
  readonly value: string | undefined;
  readonly onType: (text: string | undefined) => void;
  /** Focused when the page opens. */
  readonly isFirst?: boolean;
}

export function AddressedInput(props: AddressedInputProps) {
  const { label, isLabelHidden, value = '', onType, isFirst, ...rest } = props;
  const field = useRef<HTMLInputElement>(null);
  const [text, setText] = useState(value);
  useEffect(() => {
    if (document.activeElement !== field.current) setText(value);
  }, [value]);
  useEffect(() => {
    // A page that was scrolled before keeps its place.
    if (isFirst) field.current?.focus({ preventScroll: true });
  }, [isFirst]);
  return (
    <label className="field">
      <span className={isLabelHidden ? 'hidden-text' : undefined}>{label}</span>
      <input
        {...rest}
        ref={field}
        value={text}
        onChange={({ target }) => {
          setText(target.value);
          onType(target.value || undefined);
        }}
      />
    </label>
  );
}
