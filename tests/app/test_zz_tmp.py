from app.test_keeping import *
from app.test_keeping import _taught
def test_look(wise, clock):
    print("TEXT", [e.text for e in every(wise)][1].__repr__())
