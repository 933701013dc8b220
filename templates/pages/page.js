"use strict";
// Steps open one by one or all at once; a printed page shows them all.
{
  const steps = [...document.querySelectorAll("details.step")];
  const button = document.getElementById("all");
  const allOpen = () => steps.every((step) => step.open);
  const label = () => { button.textContent = allOpen() ? button.dataset.close : button.dataset.open; };
  button.hidden = false;
  button.addEventListener("click", () => {
    const open = !allOpen();
    for (const step of steps) step.open = open;
  });
  for (const step of steps) step.addEventListener("toggle", label);
  label();
  let closed = [];
  addEventListener("beforeprint", () => {
    closed = steps.filter((step) => !step.open);
    for (const step of closed) step.open = true;
  });
  addEventListener("afterprint", () => { for (const step of closed) step.open = false; });
}
