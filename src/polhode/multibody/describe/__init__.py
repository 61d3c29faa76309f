"""What a user says: bodies, joints, contacts, forces, and the view that functions get."""
